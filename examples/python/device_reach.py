# Learning on thousands of arms at once: random search (the cross-entropy method) for a linear controller that brings the
# tip of a tendon arm to a target. Each candidate moves several arms to different targets; all step together on a device.
#   device_reach.py [DEVICE [ARMS [GENERATIONS [ACTIONS]]]]; DEVICE: cuda, or host for a trial without a graphics processor
import sys
from time import perf_counter

import numpy as np

from sinew import gym

device, arms, generations, actions = "host", 24, 2, 25
if len(sys.argv) > 1:
    device, arms, generations, actions = sys.argv[1], 8192, 20, 250
arms, generations, actions = [int(x) for x in sys.argv[2:5]] + [arms, generations, actions][len(sys.argv[2:5]) :]
episodes = max(1, arms // 512)  # of each candidate, to different targets
candidates = arms // episodes

began = perf_counter()
env = gym.make_vec("Reach", candidates * episodes, device=device)
to_device = env.arrays.of
print(f"{env.num_envs} arms on {env.batch.name}, made in {perf_counter() - began:.1f} s")

SCALE = np.array([4, 4, 4, 0.5, 0.5, 0.5, 4, 4, 4, 10, 10, 10])  # observations of about 1


def play(policies):
    """Sum of rewards of each candidate over an episode, its mean over targets; policies: (candidates, 2, 13)."""
    weights = to_device(np.repeat(policies, episodes, axis=0))
    scale, total = to_device(SCALE), 0.0
    observation, _ = env.reset()
    for _ in range(actions):
        action = (weights[:, :, :12] * (observation * scale)[:, None, :]).sum(2) + weights[:, :, 12]
        observation, reward, _, _, _ = env.step(action)
        total = total + reward
    total = total.reshape(candidates, episodes).mean(1)
    return np.asarray(total if device == "host" else total.cpu())


random = np.random.default_rng(1)
mean, spread = np.zeros((2, 13)), np.full((2, 13), 0.5)
env.reset(seed=1)
began = perf_counter()
for generation in range(generations):
    policies = mean + spread * random.standard_normal((candidates, 2, 13))
    policies[0] = mean
    scores = play(policies)
    best = policies[np.argsort(-scores)[: max(2, candidates // 10)]]
    print(f"generation {generation:2}: mean controller {scores[0]:7.2f}, all {scores.mean():7.2f}, best {scores.max():7.2f}, "
          f"{perf_counter() - began:6.1f} s")  # fmt: skip
    mean, spread = best.mean(0), np.maximum(best.std(0), 0.02)
steps = generations * actions * 2 * env.num_envs
seconds = perf_counter() - began
print(f"{steps} steps of 10 ms in {seconds:.1f} s: {steps / seconds:.3g} steps/s; {int(env.batch.failed.sum())} arms have failed")
