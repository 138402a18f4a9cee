# SPDX-License-Identifier: MIT
"""Comparisons that must hold for a random robot. Each takes a model and a command and returns a verdict."""
import json
import math
import re
import signal
import statistics
import subprocess
import time
from typing import NamedTuple

import model_text
from chance import rounded
from command import ENVIRONMENT, SINEW, Outcome, limit
from model_text import clone, rods, size, steps

# largest differences, relative to the size of the robot or to a frequency
STATIC = 0.01    # between engines, bases, nodes
SAME = 1e-4      # between formulations of the same equations
ARC = 1e-6       # between solutions of the same equations
FAR = 0.3        # above this two stable equilibria are different branches rather than errors
MOTION = 0.02    # of a motion with the default scheme, where others with the same step are more accurate
COARSE = 0.1     # of a motion, independently of the others
CONTROLLED = 0.01  # of a motion whose steps are chosen by error control
CREATED, REMOVED = 0.01, 0.1  # of the exchanged energy, created or removed by the time scheme
UNBALANCED = 0.1  # of the exchanged energy, missing in the energy balance
ALIKE, WHOLE = 1e-7, 1e-4  # of derivatives, relative to the largest: between methods, from those of whole runs
ROUNDS = 1e9     # condition number above which linear models have few digits
RESPONSE = 1e-8  # of linear models, relative: the equilibrium is solved to some digits
MATRIX = 1e-9    # between solutions with a matrix and by elimination: what the solver's tolerance leaves
SUSPECT = 0.003   # likewise: above this shorter steps must reduce it


class Verdict(NamedTuple):
    """kind: ok, warned (differs, with a warning), refused, failed (with a message), branch (another stable
    equilibrium), unsure (the reference is not accurate), find."""
    kind: str
    what: str = ""        # kind of disagreement: it must stay the same while a find is shrunk
    text: str = ""        # amount, and between which variants
    amount: float = 0.0


class Settled(Exception):
    """A verdict that ends a comparison early."""

    def __init__(self, verdict):
        super().__init__(verdict.text)
        self.verdict = verdict


# ---- conditions on every run -------------------------------------------------------------------- 

def checked(run, model, name="plain", must=False):
    """The outcome of a run without crash or hang and with finite numbers. Ends the comparison where the run did not
    succeed; `must` makes that a find."""
    outcome = run(model, name)
    if outcome.crashed:
        raise Settled(Verdict("find", "crash", f"{name}: signal or sanitizer, exit {outcome.code}: {outcome.message}"))
    if outcome.hung:
        if outcome.advanced:
            raise Settled(Verdict("unsure", "slow", f"{name}: takes longer than the limit of processor time"))
        raise Settled(Verdict("find", "hang", f"{name}: no instant computed within the limit of processor time"))
    if outcome.refused:
        raise Settled(Verdict("refused", "refused", f"{name}: {outcome.message}"))
    if not outcome.done:
        if re.search(r"\b(nan|inf)\b", outcome.message):
            raise Settled(Verdict("find", "nan", f"{name}: {outcome.message}"))
        if outcome.message.startswith("exit status"):
            raise Settled(Verdict("find", "silent", f"{name}: {outcome.message}"))
        # a warning: from there on the motion is not determined
        told = re.search("is (in|near) a singular configuration", outcome.err)
        kind = "warned" if told else "find" if must else "failed"
        raise Settled(Verdict(kind, "failed", f"{name}: {outcome.message}"))
    if outcome.not_finite:
        raise Settled(Verdict("find", "nan", f"{name}: {outcome.not_finite} is no number, exit 0"))
    return outcome


def positions(model):
    """Names of the columns that are positions in space."""
    return [f"{name}.{c}" for name, probe in model["probes"].items()
            if probe == "center_of_mass" or isinstance(probe, dict) and "position" in probe for c in "xyz"]


def moves(model):
    return bool(steps(model, "dynamic"))


def apart(model, a, b, turn=None):
    """Largest distance between positions of two runs, relative to the size of the robot: over time in a motion, else at
    the end. turn maps a position of a to one of b. None where frames do not match."""
    names = positions(model)
    at_end = not moves(model)
    worst = 0.0
    for first in range(0, len(names), 3):
        trio = names[first:first + 3]
        if at_end:
            pairs = [([a.last[n] for n in trio], [b.last[n] for n in trio])]
        else:
            pairs = list(frames(trio, a, b))
            if not pairs:
                return None
        for p, q in pairs:
            worst = max(worst, math.dist(turn(p) if turn else p, q))
    return worst/size(model)


def frames(trio, a, b):
    """Positions of both at their common instants; the last frame of each instant."""
    span = max(a.t[-1], 1e-300)
    instants = {round(t/span*1e6): i for i, t in enumerate(b.t)}
    latest = {round(t/span*1e6): i for i, t in enumerate(a.t)}
    for instant, i in latest.items():
        k = instants.get(instant)
        if k is not None:
            yield [a.values[n][i] for n in trio], [b.values[n][k] for n in trio]


def frequencies_apart(a, b, names=("f.1", "f.2")):
    """Largest relative difference of frequencies; null motions and growing ones are left out."""
    worst = 0.0
    for name in names:
        x, y = a.last.get(name), b.last.get(name)
        if x and y and x > 0 and y > 0:
            worst = max(worst, abs(x - y)/max(x, y))
    return worst


def unknown_modes(plain):
    """Numbers of the modes of which a warning says that the error of their frequency is not known."""
    numbers = set()
    for line in plain.warnings:
        found = re.search(r"in the frequency of mode ([\d, to]+) at t", line)
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", found[1]) if found and "is not known" in line else ():
            numbers.update(range(int(first), int(last or first) + 1))
    return numbers


def frequencies_told(plain, fine):
    """The verdict on the estimated errors of frequencies, compared with a richer basis mode by mode: every frequency has
    an estimate or a warning that it has none; significant errors must be reported with about their size, and others
    must not. Roots that decay without vibrating are left out: they accumulate, and have no counterpart by rank."""
    finer = {mode["mode"]: mode for mode in fine.totals.get("modes", [])}
    if any(mode["null"] for mode in plain.totals.get("modes", [])):
        return Verdict("unsure", "basis (frequency)", "a null motion leaves open how the robot stands")
    said = any("strain basis" not in line for line in plain.warnings)
    worst, unknown = 0.0, unknown_modes(plain)
    for mode in plain.totals.get("modes", []):
        other, told = finer.get(mode["mode"]), mode["basis"]
        if told is None and not mode["null"] and mode["mode"] not in unknown and mode.get("damping", 0) != 1:
            return Verdict("find", "basis (no estimate)", f"mode {mode['mode']} has no estimate of its error and no warning")
        if told is None and mode["mode"] in unknown:
            worst = max(worst, 2*STATIC)
            continue
        if not other or mode["null"] or other["null"] or mode["frequency"] <= 0 or other["frequency"] <= 0:
            continue
        amount = abs(mode["frequency"] - other["frequency"])/max(mode["frequency"], other["frequency"])
        text = f"mode {mode['mode']}, {mode['frequency']:.5g} Hz, is off by {amount:.2g} with a richer basis and told to be by {told}"
        # estimates are accurate to a tenth for errors of this size
        if amount > 1.1*STATIC and not (told or 0) > max(STATIC, amount/2) and not said:
            return Verdict("find", "basis (frequency)", text, amount)
        if told and told > STATIC and told > 3*amount:
            return Verdict("find", "basis (false alarm)", text, told)
        worst = max(worst, amount)
    return Verdict("warned" if worst > STATIC else "ok", "basis (frequency)", f"frequencies are off by {worst:.2g}", worst)


def verdict(what, amount, bound, plain, text):
    """ok, warned or a find."""
    if amount is None:
        return Verdict("unsure", what, "no common instants")
    if amount <= bound:
        return Verdict("ok", what, "", amount)
    kind = "warned" if plain.told(amount) else "find"
    return Verdict(kind, what, f"{text} by {amount:.2g} (allowed {bound:g})", amount)


def stability(run, model, name):
    """Smallest eigenvalue of the tangent at the end of a static model."""
    looked = clone(model)
    looked["probes"]["looked"] = "stability"
    outcome = run(looked, name)
    value = outcome.last.get("looked") if outcome.done else None
    return value


def two_equilibria(run, what, model, other, plain, amount, text, far=0.0):
    """Verdict on two equilibria that differ: another branch where both are stable and farther apart than `far`, else a
    find unless the run warned."""
    grows = any(mode["frequency"] < 0 for mode in plain.totals.get("modes", []))  # shown in the table of modes
    if plain.told(amount) or grows:
        return Verdict("warned", what, f"{text} by {amount:.2g}", amount)
    pair = stability(run, model, "plain, stability"), stability(run, other, "other, stability")
    if None not in pair and min(pair) > 0 and amount > far:
        return Verdict("branch", what, f"{text} by {amount:.2g}, both stable ({pair[0]:.2g}, {pair[1]:.2g})", amount)
    return Verdict("find", what, f"{text} by {amount:.2g} (allowed {STATIC:g}); stability {pair[0]} and {pair[1]}", amount)


# ---- statics -------------------------------------------------------------------------------------

def alive(model, run):
    """No crash, no hang, only finite numbers, no failure without a message."""
    checked(run, model)
    return Verdict("ok", "alive")


def richer(name):
    """A basis with more functions; None where it is piecewise."""
    kind, _, count = name.rpartition(" ")
    return f"{kind} {int(count) + 4}" if count.isdigit() else None


def refine(rod):
    """More functions or elements."""
    strain = rod["strain"]
    if "elements" in rod:
        rod["elements"] *= 3
    elif isinstance(strain, dict):
        rod["strain"] = {key: richer(value) or value for key, value in strain.items()}
    else:
        rod["strain"] = richer(strain) or strain


def compare_with(model, run, what, other, text):
    """The plain run compared with another: positions and frequencies."""
    plain = checked(run, model)
    second = checked(run, other, what)
    amount = apart(model, plain, second)
    if "f" in model["probes"] and what == "basis" and amount is not None and amount <= STATIC:
        return frequencies_told(plain, second)
    if "f" in model["probes"] and what != "basis":
        pitch = frequencies_apart(plain, second)
        if pitch > STATIC:
            return verdict(what + " (frequency)", pitch, STATIC, plain, f"frequencies differ: {text}")
    if amount is None or amount <= STATIC:
        return verdict(what, amount, STATIC, plain, text)
    if moves(model):
        reference(model, run)  # ends the comparison where the motions diverge by themselves
    if moves(model):
        return verdict(what, amount, STATIC, plain, f"positions differ: {text}")
    # a small change with a finer rod is an error, a large one another branch
    return two_equilibria(run, what, model, other, plain, amount, f"positions differ: {text}", FAR)


def basis(model, run):
    """More strain functions change nothing significant, or the run warns."""
    other = clone(model)
    for rod in rods(other):
        refine(rod)
    for link in other["robot"].values():
        if "tubes" in link:
            link.update(degree=5, elements=3)
    return compare_with(model, run, "basis", other, "a richer basis")


def nodes(model, run):
    """More nodes along the rods change nothing significant, or the run warns."""
    other = clone(model)
    for rod in rods(other):
        rod.update(nodes=80, magnus=6)
    return compare_with(model, run, "nodes", other, "80 nodes and magnus 6 instead of auto")


def spaces(model, run):
    """Legendre, Chebyshev and monomials span the same space."""
    word = {"legendre": "chebyshev", "chebyshev": "legendre", "monomial": "legendre"}
    if not re.search(r"\b(legendre|chebyshev|monomial)\b", model_text.text(model)):
        return Verdict("ok", "spaces")
    other = clone(model)
    for rod in rods(other):
        strain = rod["strain"]
        for old, new in word.items():
            if isinstance(strain, str) and old in strain:
                rod["strain"] = strain.replace(old, new)
                break
            if isinstance(strain, dict) and any(old in v for v in strain.values()):
                rod["strain"] = {k: v.replace(old, new) for k, v in strain.items()}
                break
    plain, second = checked(run, model), checked(run, other, "same space")
    amount = apart(model, plain, second)
    text = "positions differ with another basis of the same space"
    if amount > STATIC:
        return two_equilibria(run, "spaces", model, other, plain, amount, text)
    # nodes are chosen for the same space, so even their errors should be equal
    return verdict("spaces", amount, SAME, plain, text)


def scaled(value, law):
    """A number or expression times a law of t."""
    if isinstance(value, list):
        return [scaled(v, law) for v in value]
    return f"({value})*{law}" if value not in (0, 0.0) else 0


def raised(model, law="linear(t, 0, 1)"):
    """The same loads, reached along a path."""
    other = clone(model)
    for load in other.get("loads", {}).values():
        for key in ("force", "torque"):
            if key in load:
                load[key] = scaled(load[key], law)
    for actuator in other.get("actuators", {}).values():
        for key in ("effort", "shortening", "position"):
            if key in actuator:
                actuator[key] = scaled(actuator[key], law)
    other["gravity"] = scaled(other.get("gravity", [0, 0, -9.81]) or [0, 0, 0], law)
    if other["gravity"] == [0, 0, 0]:
        other["gravity"] = 0
    for step in steps(other, "static"):
        step.update({"for": 1, "step": 0.125})
    return other


def path(model, run):
    """An equilibrium that is reached along a path of loads is also found in one step; both are the same."""
    if moves(model):
        return Verdict("ok", "path")
    other = raised(model)
    slow = checked(run, other, "along a path")
    plain = run(model)
    if plain.code == 1 and not plain.crashed:
        checked(run, model, must=True)
    plain = checked(run, model)
    amount = apart(model, plain, slow)
    if amount > STATIC:
        return two_equilibria(run, "path", model, other, plain, amount, "positions differ from those along a path of loads")
    return Verdict("ok", "path", "", amount)


def arc(model, run):
    """A path by arc length that does not turn back ends in the equilibrium of load increments."""
    if moves(model) or any("law" in str(p) for p in model["probes"].values()):
        return Verdict("ok", "arc")
    slow = checked(run, raised(model), "along a path")
    if slow.warnings:
        return Verdict("unsure", "arc", "the branch of load increments was left")
    other = raised(model, "(3*linear(t, -1, 2) - 1)")  # t, without corners at 0 and 1
    other["study"] = [{"path": {"range": [0, 1], "points": 200}}]
    curve = checked(run, other, "by arc length")
    if curve.totals.get("special"):
        return Verdict("branch", "arc", "the path has special points")
    if abs(curve.t[-1] - 1) > 1e-9:
        return Verdict("unsure", "arc", "the path did not end within its points")
    amount = apart(model, slow, curve)
    return verdict("arc", amount, ARC, slow, "the path by arc length ends elsewhere than load increments")


def exists(model, run):
    """Where no equilibrium is found, a damped motion does not come to rest in one either."""
    plain = run(model)
    if moves(model) or plain.code != 1 or plain.crashed:
        checked(run, model)
        return Verdict("ok", "exists")
    other, period = damped(model)
    other["study"] = [{"dynamic": {"for": rounded(6*period, 3), "step": rounded(period/40, 3), "scheme": "euler"}},
                      {"static": {}}]
    other["record"] = {"every": rounded(6*period, 3)}
    rest = run(other, "by a damped motion")
    if rest.done and not rest.warnings:
        return Verdict("find", "exists", f"an equilibrium exists, a damped motion ends there, but: {plain.message}")
    checked(run, model)
    return Verdict("unsure", "exists", "a damped motion does not end in an equilibrium")


def damped(model):
    """The model with strong damping everywhere, and approximately the period of its slowest oscillation."""
    period = 2*math.pi*math.sqrt(size(model)/9.81)
    other = clone(model)
    for material in other.get("materials", {}).values():
        material["damping"] = rounded(period/6, 3)
    for link in other["robot"].values():
        stiffness = link.get("stiffness")
        if stiffness is not None:
            link["damping"] = [rounded(c*period/6, 3) for c in stiffness] if isinstance(stiffness, list) \
                else rounded(stiffness*period/6, 3)
    return other, period


def stable(model, run):
    """An unstable equilibrium is reported."""
    if moves(model):
        return Verdict("ok", "stable")
    plain = checked(run, model)
    value = stability(run, model, "stability")
    if value is None or value > -1e-9:
        return Verdict("ok", "stable")
    if any("unstable" in line for line in plain.warnings):
        return Verdict("warned", "stable", f"stability {value:.2g}")
    return Verdict("find", "stable", f"the equilibrium is unstable ({value:.2g}) and the run does not say so", -value)


def settles(model, run):
    """A damped motion ends in the equilibrium that statics finds, or in another stable one."""
    plain = checked(run, model)
    other, period = damped(model)
    other["study"] = [{"static": {}}, {"dynamic": {"for": rounded(3*period, 3), "step": rounded(period/20, 3)}}]
    other["record"] = {"every": rounded(3*period, 3)}
    moved = checked(run, other, "from rest at the equilibrium")
    names = positions(model)
    amount = max(math.dist([plain.last[n] for n in names[i:i + 3]], [moved.last[n] for n in names[i:i + 3]])
                 for i in range(0, len(names), 3))/size(model)
    if amount <= 1e-3:
        return Verdict("ok", "settles", "", amount)
    if any("unstable" in line for line in plain.warnings):
        return Verdict("warned", "settles", f"a motion leaves the equilibrium by {amount:.2g}", amount)
    return verdict("settles", amount, 1e-3, plain, "a damped motion that starts at the equilibrium leaves it")


def engines(model, run):
    """Both engines find the same equilibrium."""
    plain = checked(run, model)
    other = clone(model)
    for step in steps(other, "static"):
        step.update(engine="shooting")
    shot = checked(run, other, "shooting")
    amount = apart(model, plain, shot)
    if amount <= STATIC:
        return Verdict("ok", "engines", "", amount)
    rich = clone(model)
    for rod in rods(rich):
        refine(rod)
        rod.update(nodes=80, magnus=6)
    fine = checked(run, rich, "richer basis")
    if apart(model, fine, shot) <= STATIC:
        return verdict("engines (basis)", amount, STATIC, plain,
                       "the strain engine differs from shooting and from a richer basis")
    if shot.told(amount) or plain.told(amount):
        return Verdict("warned", "engines", f"engines differ by {amount:.2g}", amount)
    judged = clone(other)
    judged["study"] = [{"static": {"engine": "shooting"}}, {"static": {}}]
    value = stability(run, judged, "shooting, judged"), stability(run, model, "plain, stability")
    where = run(judged, "shooting, continued")
    stays = where.done and apart(model, shot, where) <= 5*STATIC
    if stays and None not in value and min(value) > 0:
        return Verdict("branch", "engines", f"engines differ by {amount:.2g}, both stable", amount)
    return Verdict("find", "engines", f"engines differ by {amount:.2g} of the size, stability: shooting {value[0]}, "
                   f"strain {value[1]}", amount)


# ---- motion --------------------------------------------------------------------------------------

def with_step(model, factor=1.0, **options):
    """A variant of the motion: another step length, scheme or other options."""
    other = clone(model)
    for step in steps(other, "dynamic"):
        if "step" in step:
            step["step"] = rounded(step["step"]*factor, 12)
        for key, value in options.items():
            if value is None:
                step.pop(key, None)
            else:
                step[key] = value
    return other


def reference(model, run):
    """A motion on which two fine settings agree, else the comparison ends; the finer of both."""
    if "loops" in model:
        pair = with_step(model, 1/8), with_step(model, 1/32)
    elif "contacts" in model:
        pair = with_step(model, 1/16), with_step(model, 1/64)
    else:
        pair = with_step(model, 1/2, scheme="gauss4"), with_step(model, 1/4, scheme="gauss6")
    first, second = checked(run, pair[0], "reference, coarser"), checked(run, pair[1], "reference")
    amount = apart(model, first, second)
    if amount is None or amount > 0.003:
        raise Settled(Verdict("unsure", "reference", f"the references differ by {amount}"))
    if second.told(0.003):  # both may be wrong alike, as past a dead point
        raise Settled(Verdict("unsure", "reference", "the reference warns of its own error"))
    return second


def stirs(model, outcome):
    """Does any part move by more than a hundred-thousandth of the robot's size? Below that the energy balance is
    noise."""
    columns = [outcome.values[n] for n in positions(model) if n in outcome.values]
    return not columns or max(max(c) - min(c) for c in columns) > 1e-5*size(model)


def energy(model, run):
    """The energy balance closes, and energy created or removed by the time scheme is reported."""
    if not moves(model):
        return Verdict("ok", "energy")
    plain = checked(run, model)
    if not stirs(model, plain):
        return Verdict("ok", "energy")
    exchanged = max(plain.totals.get("exchanged") or 0.0, 1e-12)
    balance, scheme = plain.totals.get("balance") or 0.0, plain.totals.get("scheme") or 0.0
    if scheme < -CREATED*exchanged:
        return energy_verdict("created", -scheme/exchanged, plain)
    if scheme > REMOVED*exchanged:
        return energy_verdict("removed", scheme/exchanged, plain)
    if abs(balance) > UNBALANCED*exchanged:
        return verdict("balance", abs(balance)/exchanged, UNBALANCED, plain,
                       "energy is not accounted for, of the exchanged")
    if abs(balance) > SUSPECT*exchanged:
        short = checked(run, with_step(model, 1/4), "step/4")
        left = abs(short.totals.get("balance") or 0.0)
        if left > abs(balance)/3 and not plain.warnings:
            return Verdict("find", "balance", f"of the energy {abs(balance)/exchanged:.2g} is not accounted for, "
                           f"with a quarter of the step still {left/exchanged:.2g}", left/exchanged)
    return Verdict("ok", "energy", "", abs(scheme)/exchanged)


def energy_verdict(what, amount, plain):
    kind = "warned" if plain.warnings else "find"
    return Verdict(kind, f"energy {what}", f"the scheme {what} {amount:.2g} of the exchanged energy", amount)


def schemes(model, run):
    """The default scheme is about as accurate as others of its order with the same step."""
    plain = checked(run, model)
    fine = reference(model, run)
    amount = apart(model, plain, fine)
    if amount is not None and amount <= MOTION:
        return Verdict("ok", "schemes", "", amount)
    others = []
    for scheme in ("bdf2", "trapezoidal", "hht"):
        peer = run(with_step(model, scheme=scheme), scheme)
        if peer.done:
            others.append(apart(model, peer, fine) or 0.0)
    if not others or amount is None or amount < 4*statistics.median(others):
        return Verdict("ok", "schemes", "", amount or 0.0)
    return verdict("schemes", amount, MOTION, plain, "the default scheme is off where others at the same step are off by "
                   + ", ".join(f"{o:.2g}" for o in others) + ": it is off")


def steps_short(model, run):
    """A motion with a large error at its step length warns."""
    plain = checked(run, model)
    fine = reference(model, run)
    return verdict("steps", apart(model, plain, fine), COARSE, plain, "the motion differs from one with fine steps")


def adapt(model, run):
    """Steps chosen by error control keep the error small."""
    return controlled(model, run, with_step(model, adapt="on"), "adapt")


def free_step(model, run):
    """Steps chosen by error control need no upper limit."""
    return controlled(model, run, with_step(model, adapt="on", step=None), "adapt without step")


def damped_stages(model, run):
    """Radau's collocation, which damps fast motions, with steps chosen by their error."""
    if "loops" in model:
        raise Settled(Verdict("refused", "radau5", "loops"))
    return controlled(model, run, with_step(model, adapt="on", scheme="radau5"), "radau5")


def controlled(model, run, other, name):
    checked(run, model)
    outcome = checked(run, other, name, must=True)
    return verdict(name, apart(model, outcome, reference(model, run)), CONTROLLED, outcome,
                   "a motion whose steps are chosen by their error differs from one with fine steps")


def engines_motion(model, run):
    """Both engines find the same motion, with steps short enough for both."""
    rich = with_step(model, 1/4)
    for rod in rods(rich):
        refine(rod)
        rod.update(nodes=60)
    checked(run, model)
    short = with_step(model, 1/4, engine="shooting", scheme="bdf2")
    for step in steps(short, "static"):
        step.update(engine="strain")
    fine = checked(run, rich, "strain, richer basis, step/4")
    shot = checked(run, short, "shooting, step/4")
    amount = apart(model, fine, shot)
    if amount is None or amount <= 3*STATIC:
        return verdict("engines in motion", amount, 3*STATIC, shot, "engines differ")
    shorter = with_step(model, 1/16, engine="shooting", scheme="bdf2")
    shortest = checked(run, shorter, "shooting, step/16")
    if (apart(model, shot, shortest) or 0) > STATIC:
        return Verdict("unsure", "engines in motion", "the shooting engine needs shorter steps")
    return verdict("engines in motion", amount, 3*STATIC, shot, "engines differ in motion")


# ---- equivalent formulations -------------------------------------------------------------------- 

# a rotation by 100 degrees about (1, 2, 2)/3, and a translation in lengths of the robot
TURN_AXIS, TURN_ANGLE, SHIFT = (1/3, 2/3, 2/3), 1.745, (0.7, -1.3, 0.4)


def rotation(axis, angle):
    x, y, z = axis
    c, s = math.cos(angle), math.sin(angle)
    return [[c + x*x*(1 - c), x*y*(1 - c) - z*s, x*z*(1 - c) + y*s],
            [y*x*(1 - c) + z*s, c + y*y*(1 - c), y*z*(1 - c) - x*s],
            [z*x*(1 - c) - y*s, z*y*(1 - c) + x*s, c + z*z*(1 - c)]]


R = rotation(TURN_AXIS, TURN_ANGLE)


def turned(vector):
    """A vector of numbers or laws in the rotated world."""
    rows = []
    for row in R:
        terms = [f"{c!r}*({v})" if isinstance(v, str) else c*v for c, v in zip(row, vector) if v not in (0, 0.0)]
        words = [term for term in terms if isinstance(term, str)]
        total = sum(term for term in terms if not isinstance(term, str))
        rows.append(" + ".join(words + [repr(total)]) if words else total)
    return rows


def move(model):
    """The model in a world that is rotated and translated, and the map of positions."""
    other = clone(model)
    shift = [c*size(model) for c in SHIFT]
    for link in other["robot"].values():
        if link["on"] == "world":
            link["on"] = "stage"
    for site in other.get("sites", {}).values():
        if site["on"] == "world":
            site["on"] = "stage"
    for loop in other.get("loops", {}).values():
        loop["join"] = ["stage" if site == "world" else site for site in loop["join"]]
    other["robot"] = {"stage": {"on": "world", "pose": {"xyz": shift, "axis": list(TURN_AXIS), "angle": TURN_ANGLE}},
                      **other["robot"]}
    gravity = model.get("gravity", [0, 0, -9.81])
    if gravity:
        other["gravity"] = turned(gravity)
    for load in other.get("loads", {}).values():
        for key in ("force", "torque"):
            if key in load and load.get("frame") != "body":
                load[key] = turned(load[key])
    for fluid in other.get("fluid", {}).values():
        if "current" in fluid:
            fluid["current"] = turned(fluid["current"])
    return other, lambda p: [sum(c*v for c, v in zip(row, p)) + s for row, s in zip(R, shift)]


def moved(model, run):
    """A robot that is rotated and translated with all its loads has the same motion."""
    if "contacts" in model or re.search(r"once\(v\.", model_text.text(model)):
        return Verdict("ok", "moved")
    plain = checked(run, model)
    other, turn = move(model)
    elsewhere = checked(run, other, "moved", must=True)
    if "f" in model["probes"]:
        pitch = frequencies_apart(plain, elsewhere)
        if pitch > SAME:
            return verdict("moved (frequency)", pitch, SAME, plain, "a robot that stands elsewhere has other frequencies:"
                           " they differ")
    amount = apart(model, plain, elsewhere, turn)
    if amount is not None and amount > STATIC and not moves(model):
        return two_equilibria(run, "moved", model, other, plain, amount, "a robot that stands elsewhere is off")
    if moves(model) and amount is not None and amount > SAME:
        reference(model, run)  # ends the comparison where the motions diverge by themselves
    return verdict("moved", amount, SAME, plain, "a robot that stands elsewhere and is turned as a whole is off")


def closure(model, run):
    """In a plane a revolute, a spherical and a cylindrical joint close a loop equivalently."""
    plain = checked(run, model)
    for kind in ("spherical", "cylindrical"):
        other = clone(model)
        for loop in other["loops"].values():
            loop["as"] = kind
        second = checked(run, other, kind, must=True)
        amount = apart(model, plain, second)
        if amount is not None and amount > STATIC and not moves(model):
            return two_equilibria(run, "closure", model, other, plain, amount, f"a planar loop closed as {kind} is off")
        found = verdict("closure", amount, SAME, plain, f"a planar loop closed as {kind} is off")
        if found.kind != "ok":
            return found
    return Verdict("ok", "closure")


def again(model, run):
    """A run that is killed and resumed has the bits of one that was not; so has a repeated run."""
    plain = checked(run, model)
    text = model_text.text(model)
    (run.folder / "again.yaml").write_text(text)
    output = run.folder / "again.h5"
    output.unlink(missing_ok=True)
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([SINEW, "run", "again.yaml", "-o", "again.h5", "-q"], cwd=run.folder, preexec_fn=limit,
                          env=ENVIRONMENT, **quiet) as process:
        delay = 0.5*(plain.totals.get("seconds") or 0.0)  # any instant is suitable
        time.sleep(min(delay + 0.01, 2.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
    resume = ["--resume"] if output.exists() else []
    done = run.call("run", "again.yaml", "-o", "again.h5", "--json", *resume)
    if done.returncode != 0:
        return Verdict("find", "again",
                       f"a killed run does not go on: exit {done.returncode}, {done.stderr.strip()[:200]}")
    shown = run.call("show", "again.h5", "--csv")
    (run.folder / "model.yaml").write_text(text)
    run.call("run", "model.yaml", "-o", "whole.h5", "--json")
    whole = run.call("show", "whole.h5", "--csv")
    if shown.stdout != whole.stdout:
        return Verdict("find", "again", "a run killed and resumed shows other bits than one that was not")
    return Verdict("ok", "again")


def numbers(model):
    """Numbers of the file by which derivatives are taken, as --set names them: some of each section."""
    found = []

    def walk(path, value):
        if isinstance(value, dict):
            for key, item in value.items():
                walk(path + [key], item)
        elif isinstance(value, float) and value > 0:
            mine.append(".".join(path))

    for section in ("materials", "robot", "actuators", "springs", "fluid", "contacts"):
        mine = []
        for key, item in model.get(section, {}).items():
            walk([key], item)
        found += [name for name in mine if not name.endswith("poisson")][:2]  # it may be at its limit
    return found


def asked(model, run, what, of, by, method):
    """Reply and derivatives times values by `sinew gradient`; ends the comparison where it is refused."""
    reply, plain = asked_plain(model, run, of, by, method, what)
    values = [abs(variable["value"]) for variable in reply["variables"]]
    return reply, [[p*d for p, d in zip(values, row)] for row in plain]


def asked_plain(model, run, of, by, method="adjoint", what="linear"):
    """The same without the values."""
    (run.folder / "gradient.yaml").write_text(model_text.text(model))
    scalars = [word for scalar in of for word in ("--of", scalar)]
    done = run.call("gradient", "gradient.yaml", *scalars, "--by", ",".join(by), "--method", method, "--json")
    outcome = Outcome(done.returncode, done.stdout, done.stderr)
    if outcome.crashed:
        raise Settled(Verdict("find", "crash", f"gradient by {method}: exit {outcome.code}: {outcome.message}"))
    if outcome.hung:
        raise Settled(Verdict("unsure", "slow", f"gradient by {method}: longer than the limit of processor time"))
    if not outcome.done:
        reason = (outcome.reply.get("error") or {}).get("text") or outcome.message
        silent = outcome.message.startswith("exit status")
        raise Settled(Verdict("find" if silent else "refused", what, f"gradient by {method}: {reason}"))
    return outcome.reply, [scalar["derivative"] for scalar in outcome.reply["scalars"]]


def derivatives(model, run):
    """Derivatives by transposed steps are those carried forward, and those of differences of whole runs."""
    checked(run, model)
    other, by = clone(model), numbers(model)
    for step in steps(other, "dynamic"):
        step.update({"for": rounded(30*step["step"], 12), "shorten": "off"})
    names = positions(other)
    if not by or not names:
        return Verdict("unsure", "derivatives", "no numbers")
    of = [f"end({names[0]})", "end(e.total)"] if "e" in other["probes"] else [f"end({names[-1]})"]
    if moves(other):
        of[0] = f"integral({names[0]}*{names[-1]})"
    return three_ways(model, run, other, "derivatives", of, by)


def three_ways(model, run, other, what, of, by):
    """The same of results of a study by all numbers."""
    reply, back = asked(other, run, what, of, by, "adjoint")
    _, forward = asked(other, run, what, of, by, "forward")
    told, whole = asked(other, run, what, of, by, "differences")
    values = [abs(scalar["value"] or 0) for scalar in reply["scalars"]]
    jumps = "contacts" in other or re.search(r"\b(when|until|once)\b", model_text.text(other))
    unsure = told["estimated_error"]*max(values + [abs(x) for row in whole for x in row])
    for scalar, a, b, c in zip(reply["scalars"], back, forward, whole):
        least = max(1e-3*abs(scalar["value"] or 0), max(map(abs, a)), 1e-9*max(1, size(model)**2))
        # events pass instants of the time grid, and contacts close, in some samples only
        sure = WHOLE + 10*unsure/least if not jumps and unsure < 1e-3*least else math.inf
        for wanted, bound, text in ((b, ALIKE, "forward derivatives"), (c, sure, "differences of whole runs")):
            amount = max(abs(x - y) for x, y in zip(a, wanted))/least
            if not amount <= bound:
                return Verdict("find", f"{what} ({text})",
                               f"{scalar['of']}: transposed steps and {text} differ by {amount:.2g} of the largest "
                               f"({', '.join(by)}: {a}, {wanted})", amount)
    return Verdict("ok", what)


def inputs(model, run):
    """The same of the force that brings a place somewhere else, next to none, and of what rests under it."""
    plain = checked(run, model)
    other, by, names = clone(model), numbers(model), positions(model)
    places = [probe["position"] for probe in other["probes"].values() if isinstance(probe, dict) and "position" in probe]
    if not by or not places or not isinstance(places[-1], str):
        return Verdict("unsure", "inputs", "no numbers, or no place")
    other.setdefault("loads", {})["found"] = {"on": places[-1], "force": [0, 0, 0]}
    name = [probe for probe, what in other["probes"].items() if isinstance(what, dict) and "position" in what][-1]
    target = {f"{name}.{c}": plain.last[f"{name}.{c}"] + part*size(model) for c, part in (("x", -0.01), ("z", 0.02))}
    other["study"] = [{"static": {"tolerance": 1e-12}},
                      {"inverse": {"target": target, "actuators": {f"found.f{c}": {} for c in "xyz"}, "unreachable": "nearest"}},
                      {"static": {"tolerance": 1e-12}}]
    return three_ways(model, run, other, "inputs", [f"end({names[0]} + 2*{name}.y)", f"end({name}.x + {name}.z)"], by)


def linear(model, run):
    """The linear model of a step about an equilibrium answers a small force as the run does: its response is the
    derivative of the end of the run by that force."""
    plain = checked(run, model)
    if (plain.totals.get("worst_condition") or 0) > ROUNDS:
        return Verdict("unsure", "linear", "the basis is nearly dependent, so that matrices are rounded")
    count, step = 12, 0.002
    other = clone(model)
    names = positions(other)
    places = [probe["position"] for probe in other["probes"].values() if isinstance(probe, dict) and "position" in probe]
    place = places[-1] if places and isinstance(places[-1], str) else list(other["robot"])[-1]
    other["parameters"] = {"kick": 0.0}
    other.setdefault("loads", {})["small"] = {"on": place, "force": [0, 0, 0]}
    other["study"] = [{"static": {"tolerance": 1e-12}}, {"change": {"small.force": ["kick", "2*kick", "-kick"]}},
                      {"dynamic": {"for": count*step, "step": step, "scheme": "gauss4"}}]
    (run.folder / "linear.yaml").write_text(model_text.text(other))
    probes = [word for name in names for word in ("--probe", name)]
    done = run.call("linearize", "linear.yaml", "--input", "small", "--step", f"{step} s", "--scheme", "gauss4", "--reduce",
                    *probes, "--json")
    reply = json.loads(done.stdout) if done.stdout else {}
    if done.returncode != 0:
        if done.returncode not in (1, 2) or not reply.get("error"):
            return Verdict("find", "crash", f"linearize: exit {done.returncode}: {done.stderr.strip()[:200]}")
        return Verdict("refused", "linear", f"linearize: {reply['error']['text']}")
    force = [{"small.fx": 1, "small.fy": 2, "small.fz": -1}.get(put["name"], 0) for put in reply["inputs"]]
    x = [0.0 for _ in reply["states"]]
    for _ in range(count):
        x = [sum(a*b for a, b in zip(row, x)) + sum(b*u for b, u in zip(by, force)) for row, by in zip(reply["A"], reply["B"])]
    answer = [sum(c*b for c, b in zip(row, x)) + sum(d*u for d, u in zip(by, force)) for row, by in zip(reply["C"], reply["D"])]
    _, exact = asked_plain(other, run, [f"end({name})" for name in names], ["kick"])
    wanted = [row[0] for row in exact]
    amount = max(abs(a - b) for a, b in zip(answer, wanted))/max(max(map(abs, wanted)), 1e-300)
    return Verdict("ok" if amount <= RESPONSE else "find", "linear",
                   f"the linear model answers a force with an error of {amount:.2g}: {answer}, {wanted}", amount)


def period(model, run):
    """Modes and a small motion have the same period."""
    plain = checked(run, model)
    frequency = plain.last.get("f.1")
    if not frequency or frequency <= 0:
        return Verdict("unsure", "period", "no swing")
    length = size(model)
    other = clone(model)
    small = 1e-3*length
    static_tip = [plain.last[f"tip.{c}"] for c in "xyz"]
    # a force that moves the tip by about a thousandth of the length; the stiffness is not known here, so a trial run
    # determines it
    other["loads"] = {"push": {"on": "arm.tip", "force": [0, 0, 1e-6], "frame": "body"}}
    other["study"] = [{"static": {}}]
    trial = checked(run, other, "a small push")
    gave = math.dist(static_tip, [trial.last[f"tip.{c}"] for c in "xyz"])
    if gave < 1e-14*length:
        return Verdict("unsure", "period", "the push does not move it")
    other["loads"]["push"]["force"] = [0, 0, rounded(1e-6*small/gave, 4)]
    step = rounded(1/frequency/80, 4)
    other["study"] = [{"static": {}}, {"change": {"push": "off"}},
                      {"dynamic": {"for": rounded(4.2/frequency, 4), "step": step, "scheme": "gauss4"}}]
    other["probes"] = {"tip": {"position": "arm.tip"}}
    swing = checked(run, other, "a small swing")
    found = zero_crossing_period(swing, static_tip)
    if found is None:
        return Verdict("unsure", "period", "no clear swing")
    amount = abs(found*frequency - 1)
    return verdict("period", amount, 0.02, plain,
                   f"modes say {frequency:.5g} Hz, a small swing {1/found:.5g} Hz: they differ")


def zero_crossing_period(swing, rest):
    """Mean period of the slow motion of the tip about its equilibrium: by the first and last upward crossings."""
    begin = [swing.values[f"tip.{c}"][0] - r for c, r in zip("xyz", rest)]
    away = [sum((swing.values[f"tip.{c}"][i] - r)*b for c, r, b in zip("xyz", rest, begin)) for i in range(len(swing.t))]
    crossings = [swing.t[i] + (swing.t[i + 1] - swing.t[i])*away[i]/(away[i] - away[i + 1])
                 for i in range(len(away) - 1) if away[i] < 0 <= away[i + 1]]
    gaps = [b - a for a, b in zip(crossings, crossings[1:])]
    if len(gaps) < 2 or max(gaps) > 1.3*min(gaps):
        return None
    return statistics.mean(gaps)


def matrix(model, run):
    """A long rod without a matrix, and the same with a force that reads a probe and is zero, which needs the matrix."""
    other = clone(model)
    nothing = "max(0, -1 - tip.x^2)"
    other.setdefault("loads", {})["nothing"] = {"on": "arm.tip", "force": [nothing, 0, 0]}
    plain, whole = checked(run, model), checked(run, other, "with a matrix")
    if plain.totals.get("worst_condition") == whole.totals.get("worst_condition"):  # different estimates
        return Verdict("find", "matrix", "the long rod has a matrix, too")
    amount = apart(model, plain, whole)
    return Verdict("ok" if amount <= MATRIX else "find", "matrix", f"positions differ from those with a matrix by {amount:.2g}", amount)


COMPARISONS = {
    "alive": alive, "engines": engines, "basis": basis, "nodes": nodes, "spaces": spaces, "path": path, "arc": arc, "moved": moved,
    "exists": exists, "stable": stable, "settles": settles, "energy": energy, "schemes": schemes,
    "steps": steps_short, "adapt": adapt, "free_step": free_step, "damped_stages": damped_stages, "engines_motion": engines_motion, "again": again,
    "closure": closure, "period": period, "derivatives": derivatives, "inputs": inputs, "linear": linear, "matrix": matrix,
}


def compare(name, model, run):
    """The verdict of one comparison."""
    try:
        return COMPARISONS[name](model, run)
    except Settled as early:
        return early.verdict
