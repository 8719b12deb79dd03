/* SPDX-License-Identifier: MIT */
/*
 * Every rounded thing is a box with rounded corners, filled down to a depth of `band` pixels below
 * its edge: a fill has an endless band, a stroke its width; a disc or a ring is a box that is all
 * corner; a line is a turned box.
 */
in vec2 at;
flat in vec4 shape;
flat in vec4 tint;
out vec4 pixel;

void main()
{
    float radius = shape.z, band = shape.w;
    vec2 q = abs(at) - shape.xy + radius;
    float edge = length(max(q, 0.0)) + min(max(q.x, q.y), 0.0) - radius; /* < 0 inside */
    float cover = clamp(0.5 - edge, 0.0, 1.0) - clamp(0.5 - edge - band, 0.0, 1.0);
    pixel = tint * cover;
}
