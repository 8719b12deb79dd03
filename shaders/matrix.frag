/* SPDX-License-Identifier: MIT */
/*
 * Values of an n × n table, reordered while they are read: position -> row through a permutation.
 *
 * PERMUTED 1: through the permutation, 0: as stored
 * TAPS     samples a side and pixel; more than one averages values where cells are smaller than
 *          pixels (values, not colours: the mean has its place on the bar)
 */
uniform sampler2D matrix, permutation, colors;
uniform vec4 cell_map;  /* position = xz * gl_FragCoord.xy + yw */
uniform vec2 covered;   /* positions a pixel */
uniform ivec4 tile;     /* columns x..z and rows y..w are in this texture */
uniform ivec2 size;     /* columns, rows of the whole */
uniform int shift;      /* log2 of the permutation texture's width */
uniform vec2 range;     /* low, 1 / span */
uniform vec2 spread;    /* place on the bar at the map's low end, 1 / places that it takes */
uniform int scale;      /* place of a value: 0 linear, 1 square root, 2 logarithm of 4 decades */
uniform int map;
uniform vec3 missing;   /* colour of what is not a number */
out vec4 pixel;

const float LOG_OCTAVES = 13.2877124; /* log2 of 10^4 */

int stored(float position, int end)
{
    int i = clamp(int(floor(position)), 0, end - 1);
#if PERMUTED
    ivec2 at = ivec2(i & ((1 << shift) - 1), i >> shift);
    i = int(texelFetch(permutation, at, 0).r + 0.5);
#endif
    return i;
}

void main()
{
    vec2 p = cell_map.xz * gl_FragCoord.xy + cell_map.yw;
    vec2 apart = covered / float(TAPS);
    vec2 first = p - 0.5 * covered + 0.5 * apart;
    float sum = 0.0, known = 0.0, blank = 0.0;
    for (int i = 0; i < TAPS; i++) {
        int row = stored(first.y + float(i) * apart.y, size.y);
        for (int j = 0; j < TAPS; j++) {
            ivec2 at = ivec2(stored(first.x + float(j) * apart.x, size.x), row);
            bool here = all(greaterThanEqual(at, tile.xy)) && all(lessThan(at, tile.zw));
            float value = texelFetch(matrix, here ? at - tile.xy : ivec2(0), 0).r;
            bool empty = isnan(value) || isinf(value);
            sum += here && !empty ? value : 0.0;
            known += here && !empty ? 1.0 : 0.0;
            blank += here && empty ? 1.0 : 0.0;
        }
    }
    float t = clamp((sum / max(known, 1.0) - range.x) * range.y, 0.0, 1.0);
    t = scale == 1 ? sqrt(t) : scale == 2 ? max(1.0 + log2(max(t, 1e-37)) / LOG_OCTAVES, 0.0) : t;
    t = clamp((t - spread.x) * spread.y, 0.0, 1.0);
    vec3 color = texelFetch(colors, ivec2(int(t * 255.0 + 0.5), map), 0).rgb;
    color = known > 0.0 ? color : missing;
    bool outside = any(lessThan(p, vec2(0.0))) || any(greaterThanEqual(p, vec2(size)));
    float alpha = outside || known + blank == 0.0 ? 0.0 : 1.0;
    pixel = vec4(color * alpha, alpha);
}
