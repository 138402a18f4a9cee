// SPDX-License-Identifier: MIT
//
// Direction numbers and points of the Sobol' sequence.
#include "sweep/sobol_sequence.h"

// Initial numbers of a dimension >= 1; *degree of its primitive polynomial.
static const uint16_t *initial_numbers(int dimension, int *degree) {
    const uint16_t *at = snw_sobol_initial;
    int s = 1;
    for (int d = 1; d < dimension; d++) {
        at += s + 1;
        if (d == snw_sobol_degree_last[s - 1]) s++;
    }
    *degree = s;
    return at;
}

// m_k = 2 a_1 m_{k-1} ^ 4 a_2 m_{k-2} ^ .. ^ 2^s m_{k-s} ^ m_{k-s}; here as v_k = m_k / 2^k
void snw_sobol_directions(int dimension, uint64_t *direction) {
    for (int k = 0; k < SNW_SOBOL_BITS; k++) direction[k] = (uint64_t)1 << (SNW_SOBOL_BITS - 1 - k);
    if (dimension == 0) return;
    int s = 0;
    const uint16_t *initial = initial_numbers(dimension, &s);
    const uint64_t a = initial[0];
    for (int k = 0; k < s; k++) direction[k] *= initial[1 + k];
    for (int k = s; k < SNW_SOBOL_BITS; k++) {
        uint64_t v = direction[k - s] ^ direction[k - s] >> s;
        for (int i = 1; i < s; i++) v ^= (a >> (s - 1 - i) & 1) * direction[k - i];
        direction[k] = v;
    }
}

uint64_t snw_sobol_coordinate(const uint64_t *direction, uint64_t index) {
    uint64_t x = 0;
    for (uint64_t gray = index ^ index >> 1, k = 0; gray; gray >>= 1, k++) {
        if (gray & 1) x ^= direction[k];
    }
    return x;
}
