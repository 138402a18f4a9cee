# The tasks of sinew.gym, with Gymnasium's interface: scores of the baseline controllers and of random actions.
import numpy as np

from sinew import gym

for name in gym.TASKS:
    env = gym.make(name)
    env.action_space.seed(1)
    baseline = np.mean([gym.score(env, env.baseline(), episodes=1, seed=s)[0] for s in range(1, 4)])
    random = np.mean(gym.score(env, lambda _: env.action_space.sample(), episodes=3))
    print(f"{name:8}: {env.observation_space.shape[0]:2} observations, {env.action_space.shape[0]} actions; "
          f"baseline {baseline:8.2f}, random {random:8.2f}")  # fmt: skip
