/* SPDX-License-Identifier: MIT */
/* How a weight becomes a place on the colour map; figures, bars and plots agree with the shader. */
#ifndef NONLOCAL_APP_OVERLAY_H
#define NONLOCAL_APP_OVERLAY_H

#include "ui/draw.h"

/* Position 0..1 of a weight under the largest one of its row. */
double overlay_position(enum draw_scale scale, double weight, double largest);

/* The weight at a position: what a bar writes beside it. */
double overlay_weight(enum draw_scale scale, double position, double largest);

#endif
