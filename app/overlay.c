/* SPDX-License-Identifier: MIT */
#include "overlay.h"

#include <math.h>

static const double decades = 4; /* that the logarithm shows, as in shaders/heatmap.frag */

double overlay_position(enum draw_scale scale, double weight, double largest)
{
    double share = largest > 0 ? weight / largest : 0;
    if (share <= 0)
        return 0;
    if (scale == DRAW_SCALE_SQRT)
        return sqrt(share);
    if (scale == DRAW_SCALE_LOG)
        return fmax(1 + log10(share) / decades, 0);
    return share;
}

double overlay_weight(enum draw_scale scale, double position, double largest)
{
    if (scale == DRAW_SCALE_SQRT)
        return position * position * largest;
    if (scale == DRAW_SCALE_LOG)
        return largest * pow(10, decades * (position - 1));
    return position * largest;
}
