// SPDX-License-Identifier: MIT
//
// draw.h: random numbers for generated texts: seeded, the same on every machine.
#pragma once

#include <stddef.h>
#include <stdint.h>

static uint64_t seed = 1;

// splitmix64
static inline uint32_t draw(size_t below) {
    seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) % below);
}
