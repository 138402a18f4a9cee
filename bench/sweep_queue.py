#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cost of the queue of `mpirun sinew sweep`, and what it makes of 10 000 cores.

    bench/sweep_queue.py --measure    processor time of an exchange with rank 0 (OpenMPI with mpicc)
    bench/sweep_queue.py              the queue simulated, event by event, with the costs below

The simulation is that of src/sweep/ranks.c: a worker asks for a lot, rank 0 answers one after the other; a lot has left/(4 workers) rows,
at most those that a worker does in a second, but at least those of a pack and as many as all workers do in 10 us, at most 1024; rank 0 looks every 0.1 ms where there is no message.
"""
import argparse
import heapq
import json
import pathlib
import random
import subprocess
import sys
import tempfile

LOT, PAUSE, LEAST, REPORT = 1024, 1e-4, 1e-5, 1  # of src/sweep/ranks.c


def measure():
    source = pathlib.Path(__file__).resolve().parent / "sweep_queue" / "exchange.c"
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/exchange"
        subprocess.run(["mpicc", "-O2", "-o", program, str(source)], check=True)
        for transport in ("self,vader", "self,tcp"):
            for ranks in (3, 4):
                command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "btl", transport, "-n", str(ranks), program, "20000"]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode:
                    sys.exit(done.stderr)
                x = json.loads(done.stdout.strip().splitlines()[-1])
                print(f"{transport:10}  {x['workers']} workers  exchange {1e6*x['exchange']:6.2f} us  look {1e6*x['look']:5.2f} us  by the clock {1e6*x['wall']:6.2f} us")


def simulate(workers, rows, row, scatter, exchange, flight, together):
    """Efficiency, share of rank 0, longest wait at the end; row: mean time of a row, s; scatter: its standard deviation, relative."""
    random.seed(1)

    def lot_time(n):
        if scatter == 0:
            return n*row
        return max(0.0, random.gauss(n*row, scatter*row*n**0.5))  # a sum of n

    events = [(flight + random.random()*1e-3, i, 0) for i in range(workers)]  # arrivals at rank 0
    heapq.heapify(events)
    left, free, busy, done, ends, work = rows, 0.0, 0.0, 0, [], 0.0
    while events:
        at, i, told = heapq.heappop(events)
        begin = max(at, free)
        if at > free:  # rank 0 was idle: it looks again within the pause
            begin += random.random()*PAUSE
        free = begin + exchange
        busy, done = busy + exchange, done + told
        rate = done/begin
        n = max(min(left//(4*workers), rate*REPORT/workers), 1 + LEAST*rate, together)
        n = min(left, int(min(n, LOT)))
        left -= n
        if n == 0:
            ends.append(free + flight)
            continue
        t = lot_time(n)
        work += t
        heapq.heappush(events, (free + flight + t + flight, i, n))
    span = max(ends)
    return work/(workers*span), busy/span, span - min(ends)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--exchange", type=float, default=6e-6, help="processor time of rank 0 for an exchange, s")
    parser.add_argument("--flight", type=float, default=2e-5, help="time of a message on its way, s")
    args = parser.parse_args()
    if args.measure:
        measure()
        return
    print(f"exchange {1e6*args.exchange:g} us, message on its way {1e6*args.flight:g} us; row times scatter by 30 %")
    print("  workers      rows  row, ms  pack  efficiency  rank 0 busy  end, s")
    for workers, rows, row, together in ((100, 10**6, 1e-3, 1), (1000, 10**6, 1e-3, 1), (1000, 10**6, 1e-2, 1), (10000, 10**6, 1e-2, 1), (10000, 10**7, 1e-2, 1),
                                         (10000, 10**7, 1e-2, 8), (10000, 10**6, 1e-1, 1), (10000, 10**6, 1, 1), (10000, 10**7, 1e-3, 8)):
        efficiency, busy, end = simulate(workers, rows, row, 0.3, args.exchange, args.flight, together)
        print(f"  {workers:7}  {rows:8}  {1e3*row:7g}  {together:4}  {efficiency:10.3f}  {busy:11.3f}  {end:6.3f}")


if __name__ == "__main__":
    main()
