// SPDX-License-Identifier: MIT
//
// What rank 0 of `mpirun sinew sweep` pays for a lot of rows: messages of the sizes of
// src/sweep/ranks.c, and nothing else. Rank 0 prints the processor time of an exchange and of a
// look that finds no message, and the time that a worker waits. Run by bench/sweep_queue.py.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LOT = 1024, SENT = 64, TAG = 1, WARM = 1000 }; // rows of the longest lot, and of those sent

static double clock_seconds(clockid_t which) {
    struct timespec t;
    (void)clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int hear(int64_t message[3]) {
    MPI_Status status;
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, &status);
    if (!flag) return -1;
    MPI_Recv(message, 3, MPI_INT64_T, status.MPI_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return status.MPI_SOURCE;
}

// Processor time of a look for messages when there is none, s.
static double empty_look(void) {
    int64_t message[3];
    const int looks = 20000;
    const double start = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < looks; i++) (void)hear(message);
    return (clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - start) / looks;
}

static void lead(int workers, long exchanges) {
    int64_t message[3], lot[1 + LOT] = {SENT};
    const double look = empty_look();
    long served = 0, empty = 0;
    double work = 0, start = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    while (served < WARM + exchanges) {
        if (served == WARM && work == 0) {
            work = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
            start = clock_seconds(CLOCK_MONOTONIC);
            empty = 0;
        }
        const int from = hear(message);
        if (from < 0) {
            empty++;
            continue;
        }
        MPI_Send(lot, 1 + (int)lot[0], MPI_INT64_T, from, TAG, MPI_COMM_WORLD);
        served++;
    }
    work = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - work;
    start = clock_seconds(CLOCK_MONOTONIC) - start;
    lot[0] = 0;
    for (int left = workers; left > 0;) {
        const int from = hear(message);
        if (from < 0) continue;
        MPI_Send(lot, 1 + (int)lot[0], MPI_INT64_T, from, TAG, MPI_COMM_WORLD);
        left--;
    }
    printf("{\"workers\": %d, \"exchange\": %.3e, \"look\": %.3e, \"wall\": %.3e}\n", workers,
           (work - (double)empty * look) / (double)exchanges, look, start / (double)exchanges);
}

static void follow(void) {
    int64_t message[3] = {SENT, 0, 0}, lot[1 + LOT] = {1};
    MPI_Barrier(MPI_COMM_WORLD);
    while (lot[0] > 0) {
        MPI_Send(message, 3, MPI_INT64_T, 0, TAG, MPI_COMM_WORLD);
        MPI_Recv(lot, 1 + LOT, MPI_INT64_T, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        lead(size - 1, argc > 1 ? atol(argv[1]) : 20000);
    else
        follow();
    MPI_Finalize();
    return 0;
}
