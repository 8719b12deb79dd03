/* SPDX-License-Identifier: MIT */
/* Cells of a grid that are selected: thinly filled, outlined where the selection ends. */
uniform sampler2D mask;
uniform vec4 cell_map;  /* cell = xz * gl_FragCoord.xy + yw */
uniform ivec3 cells;    /* columns, rows, log2 of the mask texture's width */
uniform vec2 edge;      /* thickness of the outline, in cells */
uniform vec4 color;     /* not premultiplied */
uniform float fill;     /* share of the colour inside */
out vec4 pixel;

bool chosen(ivec2 cell)
{
    if (any(lessThan(cell, ivec2(0))) || any(greaterThanEqual(cell, cells.xy)))
        return false;
    int index = cell.y * cells.x + cell.x;
    return texelFetch(mask, ivec2(index & ((1 << cells.z) - 1), index >> cells.z), 0).r > 0.5;
}

void main()
{
    vec2 p = cell_map.xz * gl_FragCoord.xy + cell_map.yw;
    ivec2 cell = ivec2(floor(p));
    vec2 inside = p - floor(p);
    ivec2 side = ivec2(inside.x < 0.5 ? -1 : 1, inside.y < 0.5 ? -1 : 1);
    vec2 away = min(inside, 1.0 - inside);
    bool here = chosen(cell);
    bool rim = here && ((away.x < edge.x && !chosen(cell + ivec2(side.x, 0))) ||
                        (away.y < edge.y && !chosen(cell + ivec2(0, side.y))));
    float alpha = here ? color.a * (rim ? 1.0 : fill) : 0.0;
    pixel = vec4(color.rgb * alpha, alpha);
}
