/* SPDX-License-Identifier: MIT */
/*
 * A picture, dimmed and less saturated, under the weights of one query.
 *
 * MINIFY  1: a pixel averages the texels that it covers (1 to 2 a side of the chosen level)
 *         0: a pixel mixes the four texels around it; `sharp` makes the mix as narrow as a pixel
 * SCALE   0 no weights, 1 linear, 2 square root, 3 logarithm
 */
uniform sampler2D picture, weights, colors;
uniform vec4 texel_map;  /* texel = xz * gl_FragCoord.xy + yw */
uniform vec2 covered;    /* texels a pixel, for MINIFY */
uniform float sharp;
uniform ivec4 level;     /* first texel of this texture in its level; width and height of the level */
uniform vec2 extent;     /* of the picture, in texels of this level */
uniform vec2 tone;       /* brightness, saturation */
uniform vec4 cell_map;   /* cell = xz * gl_FragCoord.xy + yw */
uniform ivec3 cells;     /* columns, rows, log2 of the weights texture's width */
uniform vec4 range;      /* linear, square root: zero, 1 / span; logarithm: log2 of the floor, 1 / octaves */
uniform float opacity;
uniform int map;
uniform int is_signed;
out vec4 pixel;

vec4 texel(ivec2 i)
{
    i = clamp(i, ivec2(0), level.zw - 1) - level.xy;
    return texelFetch(picture, i, 0);
}

#if MINIFY
vec4 picture_at(vec2 p)
{
    vec2 from = p - 0.5 * covered, to = p + 0.5 * covered;
    vec2 first = floor(from);
    ivec2 i = ivec2(first);
    /* What the interval from..to covers of three neighbouring texels. */
    vec2 w0 = min(first + 1.0, to) - from;
    vec2 w1 = clamp(to - first - 1.0, 0.0, 1.0);
    vec2 w2 = clamp(to - first - 2.0, 0.0, 1.0);
    vec4 sum = vec4(0.0);
    sum += w0.y * (w0.x * texel(i) + w1.x * texel(i + ivec2(1, 0)) + w2.x * texel(i + ivec2(2, 0)));
    i.y++;
    sum += w1.y * (w0.x * texel(i) + w1.x * texel(i + ivec2(1, 0)) + w2.x * texel(i + ivec2(2, 0)));
    i.y++;
    sum += w2.y * (w0.x * texel(i) + w1.x * texel(i + ivec2(1, 0)) + w2.x * texel(i + ivec2(2, 0)));
    return sum / (covered.x * covered.y);
}
#else
vec4 picture_at(vec2 p)
{
    vec2 base = floor(p - 0.5);
    ivec2 i = ivec2(base);
    vec2 f = clamp((p - 0.5 - base - 0.5) * sharp + 0.5, 0.0, 1.0);
    return mix(mix(texel(i), texel(i + ivec2(1, 0)), f.x),
               mix(texel(i + ivec2(0, 1)), texel(i + ivec2(1, 1)), f.x), f.y);
}
#endif

#if SCALE
/* Place on the bar: 0 at its low end (or at zero, for signed weights), 1 at its high end. */
float scaled(float w)
{
#if SCALE == 3
    float size = is_signed == 1 ? abs(w) : w;
    return clamp((log2(max(size, 1e-37)) - range.x) * range.y, 0.0, 1.0);
#else
    float t = is_signed == 1 ? abs(w) * range.y : (w - range.x) * range.y;
#if SCALE == 2
    return sqrt(clamp(t, 0.0, 1.0));
#else
    return clamp(t, 0.0, 1.0);
#endif
#endif
}

vec3 heated(vec3 ground)
{
    ivec2 cell = ivec2(floor(cell_map.xz * gl_FragCoord.xy + cell_map.yw));
    cell = clamp(cell, ivec2(0), cells.xy - 1);
    int index = cell.y * cells.x + cell.x;
    int shift = cells.z;
    float w = texelFetch(weights, ivec2(index & ((1 << shift) - 1), index >> shift), 0).r;
    float t = scaled(w);
    float place = is_signed == 1 ? (w < 0.0 ? 0.5 - 0.5 * t : 0.5 + 0.5 * t) : t;
    vec3 hot = texelFetch(colors, ivec2(int(place * 255.0 + 0.5), map), 0).rgb;
    return mix(ground, hot, isnan(w) ? 0.0 : t * opacity);
}
#endif

void main()
{
    vec2 p = texel_map.xz * gl_FragCoord.xy + texel_map.yw;
    vec4 c = picture_at(p);
    vec3 ground = mix(vec3(dot(c.rgb, vec3(0.2126, 0.7152, 0.0722))), c.rgb, tone.y) * tone.x;
#if SCALE
    ground = heated(ground);
#endif
    bool outside = p.x < 0.0 || p.y < 0.0 || p.x >= extent.x || p.y >= extent.y;
    float alpha = outside ? 0.0 : c.a;
    pixel = vec4(ground * alpha, alpha);
}
