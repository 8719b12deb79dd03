/* SPDX-License-Identifier: MIT */
in vec2 at;
flat in vec4 shape; /* x: how much light text on a dark ground gains, see draw2d_glyph */
flat in vec4 tint;
uniform sampler2D atlas;
out vec4 pixel;

void main()
{
    float cover = texelFetch(atlas, ivec2(at), 0).r;
    pixel = tint * (cover + shape.x * cover * (1.0 - cover));
}
