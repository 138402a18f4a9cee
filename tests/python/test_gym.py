# SPDX-License-Identifier: MIT
import numpy as np
import pytest

import sinew
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


@pytest.mark.parametrize("name", ["Reach", "SwingUp", "Steer"])
def test_environments_on_a_device_are_single_tasks(name):
    try:
        envs = gym.make_vec(name, 3, device="host")
    except sinew.ArgumentError as refusal:
        if "this build" in str(refusal):
            pytest.skip("a build without batches on devices")
        raise
    envs.limit = 6
    first, _ = envs.reset(seed=2)
    actions = np.random.default_rng(1).uniform(-0.1, 0.1, (6, *envs.action_space.shape))
    rows = [envs.step(a) for a in actions]
    assert not rows[4][3].any() and rows[5][3].all() and rows[5][4]["_final_obs"].all() and not rows[5][4]["failed"].any()
    for i in range(3):
        one = gym.make(name)
        one.reset(seed=1)
        one.robot.q[:] = envs.task.home[i, : one.robot.nq] if name == "Reach" else one._q0
        if name == "Reach":
            one.target = first[i, 6:9]
        elif name == "Steer":
            one.target, one._before = first[i, 0] * first[i, [2, 1]] + one.robot.pose("link(1)")[:2, 3], 2.0
        else:  # the angle with which the environment began
            one.robot.q[one.robot.coordinates["arm.angle"]] = first[i, 2]
        one._sim = one.robot.simulate(one.step_time)
        for a, (_, reward, _, _, info) in zip(actions, rows):
            wanted, gain, _, _, _ = one.step(a[i])
            assert np.allclose(info["final_obs"][i], wanted, rtol=0, atol=1e-6) and abs(reward[i] - gain) < 1e-6
    mask = np.array([True, False, False])
    again, _ = envs.reset(options={"reset_mask": mask})
    assert not np.array_equal(again[0], rows[5][0][0]) and np.array_equal(again[1:], rows[5][0][1:])


def test_a_snake_on_a_device_that_arrives_ends_its_episode():
    try:
        envs = gym.make_vec("Steer", 2, device="host")
    except sinew.ArgumentError as refusal:
        if "this build" in str(refusal):
            pytest.skip("a build without batches on devices")
        raise
    envs.reset(seed=1)
    envs.task.target[0] = [0.1, 0.1]  # where the head nearly is
    _, reward, terminated, truncated, info = envs.step(np.zeros((2, 5)))
    assert terminated.tolist() == [True, False] and not truncated.any() and info["_final_obs"].tolist() == [True, False]
    assert abs(reward[0] - (2 - np.hypot(0.1, 0.1) + 1)) < 1e-9 and abs(reward[1]) < 1e-9 and not info["failed"].any()


def test_what_environments_on_a_device_lack_is_told():
    with pytest.raises(sinew.ArgumentError, match="SameStep or Disabled"):
        gym.make_vec("Reach", 2, device="host", autoreset_mode="NextStep")


def test_an_unknown_task_is_told():
    with pytest.raises(KeyError, match="there are Reach"):
        gym.make("Fly")


def episodes(name, n, steps, actions, mode):
    """Single tasks with the rules of an autoreset mode: rows of observations, rewards and flags."""
    envs = [gym.make(name) for _ in range(n)]
    for env in envs:
        env.limit = 4
    rows, over = [[env.reset(seed=5 + i)[0] for i, env in enumerate(envs)]], [False] * n
    for k in range(steps):
        row = []
        for i, env in enumerate(envs):
            if over[i] and mode == "NextStep":
                row.append((env.reset()[0], 0.0, False, False))
                over[i] = False
                continue
            observation, reward, terminated, truncated, _ = env.step(actions[k, i])
            over[i] = terminated or truncated
            if over[i] and mode == "SameStep":
                row.append((env.reset()[0], reward, terminated, truncated, observation))
            else:
                row.append((observation, reward, terminated, truncated))
        rows.append(row)
    return rows


@pytest.mark.parametrize("name", list(gym.TASKS))
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("lanes", [1, 8])
def test_a_vector_is_as_many_single_tasks(name, mode, lanes):
    """To the bit one by one; in packs to the tolerance of steps, 1e-8 of typical values."""

    def same(got, want):
        return np.array_equal(got, want) if lanes == 1 else np.allclose(got, want, rtol=0, atol=1e-8)

    n, steps = 3, 7
    actions = np.random.default_rng(2).uniform(-1.2, 1.2, (steps, n, gym.TASKS[name].actions))
    want = episodes(name, n, steps, actions, mode)
    envs = gym.make_vec(name, n, autoreset_mode=mode, threads=2, lanes=lanes)
    for task in envs.tasks:
        task.limit = 4
    observation, info = envs.reset(seed=5)
    assert same(observation, want[0]) and info == {}
    for k in range(steps):
        observation, reward, terminated, truncated, info = envs.step(actions[k])
        for i, row in enumerate(want[k + 1]):
            assert same(observation[i], row[0]) and same(reward[i], row[1])
            assert (terminated[i], truncated[i]) == row[2:4]
            if len(row) == 5:
                assert info["_final_obs"][i] and same(info["final_obs"][i], row[4])
    assert envs.observation_space.contains(observation) and envs.action_space.shape == actions.shape[1:]


def test_a_vector_may_have_single_precision():
    """Arms whose tensions change gently; robots that are thrown differ by the cuts of their steps."""
    with pytest.raises(sinew.ArgumentError, match="double precision"):
        gym.make_vec("Reach", 2, precision="single", device="host")
    seen = []
    for precision in ("double", "single"):
        envs = gym.make_vec("Reach", 3, precision=precision)
        envs.reset(seed=5)
        for _ in range(5):
            observation = envs.step(np.full((3, gym.TASKS["Reach"].actions), -0.2))[0]
        seen.append(observation)
    assert not np.array_equal(*seen) or envs.batch.engine()[0] == "alone"
    assert np.allclose(*seen, rtol=0, atol=1e-4)


def test_without_autoreset_the_caller_begins_episodes():
    envs = gym.make_vec("SwingUp", 3, autoreset_mode="Disabled")
    with pytest.raises(RuntimeError, match="before step"):
        envs.step(np.zeros((3, 1)))
    envs.reset(seed=[1, 2, 3])
    envs.tasks[1].limit = 2
    envs.step(np.zeros((3, 1)))
    before, _, _, truncated, _ = envs.step(np.zeros((3, 1)))
    assert list(truncated) == [False, True, False]
    with pytest.raises(RuntimeError, match="reset_mask"):
        envs.step(np.zeros((3, 1)))
    after, _ = envs.reset(seed=[None, 2, None], options={"reset_mask": truncated})
    assert np.array_equal(after[[0, 2]], before[[0, 2]]) and not np.array_equal(after[1], before[1])
    envs.step(np.zeros((3, 1)))
    for bad in (np.zeros(3, dtype=bool), np.ones(2, dtype=bool), [True] * 3):
        with pytest.raises(ValueError, match="reset_mask"):
            envs.reset(options={"reset_mask": bad})


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_robot_that_fails_ends_its_episode_only(mode):
    envs = gym.make_vec("SwingUp", 2, autoreset_mode=mode)
    envs.reset(seed=1)
    envs.tasks[1].torque = 1e30
    _, reward, terminated, _, info = envs.step(np.ones((2, 1)))
    assert list(terminated) == [False, True] and reward[1] == -10
    told = info["final_info"] if mode == "SameStep" else info
    assert list(told["_failure"]) == [False, True] and told["failure"][1]
    envs.tasks[1].torque = 0.1
    _, _, terminated, _, info = envs.step(np.ones((2, 1)))
    assert not terminated.any() and info == {}


def test_gymnasium_accepts_the_tasks():
    gymnasium = pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    for name in gym.TASKS:
        check_env(gymnasium.make(f"sinew/{name}-v0").unwrapped, skip_render_check=True)
        envs = gymnasium.make_vec(f"sinew/{name}-v0", 2, vectorization_mode="vector_entry_point")
        envs.reset(seed=1)
        envs.step(envs.action_space.sample())
        envs.close()


@pytest.mark.parametrize("name", ["Reach", "SwingUp", "Steer"])
def test_actions_of_another_shape_are_refused(name):
    env, vector = gym.make(name), gym.make_vec(name, 2)
    env.reset(seed=1)
    vector.reset(seed=1)
    for width in (env.actions + 1, 0):
        with pytest.raises(ValueError, match="actions have the shape"):
            env.step(np.zeros(width))
        with pytest.raises(ValueError, match=r"actions have the shape \(2, "):
            vector.step(np.zeros((2, width)))
    vector.step(np.zeros((2, env.actions), dtype=int))
