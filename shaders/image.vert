/* SPDX-License-Identifier: MIT */
/* The rectangle of a heat map or matrix. The fragment shader computes its place from gl_FragCoord,
 * which is exact, so that no interpolation decides on which side of a cell's edge a pixel lies. */
layout(location = 0) in vec2 position;

uniform mat4 projection;

void main()
{
    gl_Position = projection * vec4(position, 0.0, 1.0);
}
