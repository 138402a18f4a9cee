// SPDX-License-Identifier: MIT
//
// Counter-based random numbers and permutations, for plans of sweeps and for bootstrap samples.
#include "sweep/random.h"

enum { ROUNDS = 10, FEISTEL_ROUNDS = 6 };

void snw_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    const uint64_t first = 0xD2511F53u, second = 0xCD9E8D57u;
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t a = first * c[0], b = second * c[2];
        c[0] = (uint32_t)(b >> 32) ^ c[1] ^ k[0];
        c[1] = (uint32_t)b;
        c[2] = (uint32_t)(a >> 32) ^ c[3] ^ k[1];
        c[3] = (uint32_t)a;
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
    for (int i = 0; i < 4; i++) out[i] = c[i];
}

uint64_t snw_random_bits(uint64_t seed, uint64_t stream, uint64_t index) {
    const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)stream,
                                 (uint32_t)(stream >> 32)};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t out[4];
    snw_philox(counter, key, out);
    return (uint64_t)out[1] << 32 | out[0];
}

double snw_random_uniform(uint64_t seed, uint64_t stream, uint64_t index) {
    return ((double)(snw_random_bits(seed, stream, index) >> 12) + 0.5) * 0x1p-52;
}

uint64_t snw_random_permuted(uint64_t seed, uint64_t stream, uint64_t n, uint64_t i) {
    if (n < 2) return 0;
    int half = 1; // bits of each half
    while (half < 32 && (uint64_t)1 << 2 * half < n) half++;
    const uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = i >> half, right = i & mask;
        for (uint64_t round = 0; round < FEISTEL_ROUNDS; round++) {
            const uint64_t mixed = snw_random_bits(seed, stream, round << 32 | right) & mask;
            const uint64_t next = left ^ mixed;
            left = right;
            right = next;
        }
        i = left << half | right;
    } while (i >= n);
    return i;
}
