/* SPDX-License-Identifier: MIT */
#include "shader.h"

#include <stdio.h>
#include <string.h>

static const char prefix_core[] = "#version 330 core\n";
static const char prefix_gles[] = "#version 300 es\n"
                                  "precision highp float;\n"
                                  "precision highp int;\n"
                                  "precision highp sampler2D;\n";

/* A sentence is wanted: keep the first line of the driver's log. */
static void say(char *error, size_t error_size, const char *name, const char *what, const char *log)
{
    snprintf(error, error_size, "The graphics driver cannot %s the shader %s: %.*s", what, name,
             (int)strcspn(log, "\r\n"), log);
}

static GLuint compile(GLenum kind, bool gles, const char *name, const char *defines,
                      const unsigned char *body, char *error, size_t error_size)
{
    const char *parts[] = {gles ? prefix_gles : prefix_core, defines, "#line 1\n",
                           (const char *)body};
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 4, parts, NULL);
    glCompileShader(shader);
    GLint done = 0;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &done);
    if (!done) {
        char log[512] = "";
        glGetShaderInfoLog(shader, sizeof log, NULL, log);
        say(error, error_size, name, "compile", log);
        glDeleteShader(shader);
        return 0;
    }
    return shader;
}

static void assign_units(GLuint program)
{
    static const struct {
        const char *name;
        enum texture_unit unit;
    } samplers[] = {
        {"atlas", UNIT_ATLAS},     {"colors", UNIT_COLORS}, {"picture", UNIT_PICTURE},
        {"weights", UNIT_WEIGHTS}, {"matrix", UNIT_MATRIX}, {"permutation", UNIT_PERMUTATION},
        {"mask", UNIT_MASK},
    };
    glUseProgram(program);
    for (size_t i = 0; i < sizeof samplers / sizeof samplers[0]; i++) {
        GLint location = glGetUniformLocation(program, samplers[i].name);
        if (location >= 0) {
            glUniform1i(location, (GLint)samplers[i].unit);
        }
    }
}

GLuint shader_build(bool gles, const char *name, const char *defines, const unsigned char *vertex,
                    const unsigned char *fragment, char *error, size_t error_size)
{
    GLuint program = 0;
    GLuint v = compile(GL_VERTEX_SHADER, gles, name, defines, vertex, error, error_size);
    GLuint f =
        v ? compile(GL_FRAGMENT_SHADER, gles, name, defines, fragment, error, error_size) : 0;
    if (v && f) {
        program = glCreateProgram();
        glAttachShader(program, v);
        glAttachShader(program, f);
        glLinkProgram(program);
        GLint done = 0;
        glGetProgramiv(program, GL_LINK_STATUS, &done);
        if (done) {
            assign_units(program);
        } else {
            char log[512] = "";
            glGetProgramInfoLog(program, sizeof log, NULL, log);
            say(error, error_size, name, "link", log);
            glDeleteProgram(program);
            program = 0;
        }
    }
    glDeleteShader(v);
    glDeleteShader(f);
    return program;
}
