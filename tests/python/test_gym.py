# SPDX-License-Identifier: MIT
import numpy as np
import pytest

from sinew import gym


@pytest.mark.parametrize("name", list(gym.TASKS))
def test_episodes_repeat_with_their_seed(name):
    env = gym.make(name)
    policies = [env.baseline(), env.baseline()]
    rows = []
    for policy in policies:
        observation, _ = env.reset(seed=3)
        assert observation.shape == env.observation_space.shape
        row = [observation]
        for _ in range(10):
            observation, reward, terminated, truncated, _ = env.step(policy(observation))
            assert np.isfinite(reward)
            row.append(observation)
        rows.append(np.array(row))
    assert np.array_equal(rows[0], rows[1])


@pytest.mark.parametrize("name,least", [("Reach", -40.0), ("SwingUp", 0.0), ("Steer", 1.5)])
def test_the_baseline_does_the_task(name, least):
    env = gym.make(name)
    assert gym.score(env, env.baseline(), episodes=1)[0] > least


def test_an_unknown_task_is_told():
    with pytest.raises(KeyError, match="there are Reach"):
        gym.make("Fly")
