/* SPDX-License-Identifier: MIT */
flat in vec4 tint;
out vec4 pixel;

void main()
{
    pixel = tint;
}
