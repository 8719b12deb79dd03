/* SPDX-License-Identifier: MIT */
/* Shader programs: one body for OpenGL 3.3 core and OpenGL ES 3.0. */
#ifndef NONLOCAL_APP_GFX_SHADER_H
#define NONLOCAL_APP_GFX_SHADER_H

#include <stdbool.h>
#include <stddef.h>

#include <epoxy/gl.h>

/* Texture units are given out once, so that drawing never rebinds what another part uses. */
enum texture_unit {
    UNIT_ATLAS,
    UNIT_COLORS,
    UNIT_PICTURE,
    UNIT_WEIGHTS,
    UNIT_MATRIX,
    UNIT_PERMUTATION,
    UNIT_MASK,
    UNIT_UPLOAD /* bound only while a texture is filled */
};

/*
 * Puts the right #version line, the precisions and `defines` (lines, or "") before both bodies.
 * Samplers named atlas, colors, picture, weights, matrix, permutation and mask get their unit.
 * Returns 0 and one sentence on failure; name is for that sentence.
 */
GLuint shader_build(bool gles, const char *name, const char *defines, const unsigned char *vertex,
                    const unsigned char *fragment, char *error, size_t error_size);

#endif
