// SPDX-License-Identifier: MIT
//
// random.h: counter-based random numbers: number i of a stream is a function of the seed, the
// stream and i, so that rows of a plan are drawn in any order, by any worker, with the same result.
// The generator is Philox 4x32-10 (Salmon et al. 2011).
#pragma once

#include <stdint.h>

// out <- ten rounds of Philox on a counter of 128 bits with a key of 64 bits.
void snw_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

// 64 random bits: number `index` of a stream.
uint64_t snw_random_bits(uint64_t seed, uint64_t stream, uint64_t index);

// Uniform between 0 and 1, both excluded.
double snw_random_uniform(uint64_t seed, uint64_t stream, uint64_t index);

// Element i of a random permutation of 0 .. n - 1, without a table: a Feistel network of six rounds
// on the least even number of bits that holds n, applied again until the result is below n.
uint64_t snw_random_permuted(uint64_t seed, uint64_t stream, uint64_t n, uint64_t i);
