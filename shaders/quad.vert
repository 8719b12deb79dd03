/* SPDX-License-Identifier: MIT */
/* Quads of draw2d: flat colour, shapes, glyphs. */
layout(location = 0) in vec2 position; /* pixels, origin top left */
layout(location = 1) in vec2 place;    /* from the shape's centre, or in the atlas */
layout(location = 2) in vec4 form;     /* half width, half height, radius, band: see shape.frag */
layout(location = 3) in vec4 color;    /* not premultiplied */

uniform mat4 projection;

out vec2 at;
flat out vec4 shape;
flat out vec4 tint; /* premultiplied */

void main()
{
    gl_Position = projection * vec4(position, 0.0, 1.0);
    at = place;
    shape = form;
    tint = vec4(color.rgb * color.a, color.a);
}
