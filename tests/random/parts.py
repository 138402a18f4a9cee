# SPDX-License-Identifier: MIT
"""Parts of random robots: materials, sections, strains, rods with the scales of their loads, rigid bodies, laws."""
import math
from dataclasses import dataclass

from chance import rounded

GRAVITY = 9.81
# name, Young's modulus from .. to in Pa, Poisson's ratio, density in kg/m^3
MATERIALS = [
    ("gel", 1e4, 1e5, 0.49, 1050.0),
    ("silicone", 1e5, 2e6, 0.5, 1070.0),
    ("rubber", 2e6, 2e7, 0.48, 1100.0),
    ("plastic", 1e9, 3e9, 0.4, 1150.0),
    ("nitinol", 4e10, 7e10, 0.3, 6450.0),
    ("steel", 2e11, 2.1e11, 0.3, 7800.0),
]
SOFT, STIFF = MATERIALS[:3], MATERIALS[3:]


@dataclass
class Rod:
    """A drawn rod and its scales."""
    rod: dict       # of the model
    material: dict  # of the model
    length: float   # m
    radius: float   # m, typical half width of the section
    bending: float  # N m^2
    mass: float     # kg
    weight: float   # weight times length squared over bending stiffness

    @property
    def force(self):
        """The force that bends it by about a radian, N."""
        return self.bending/self.length**2

    @property
    def period(self):
        """Approximate period of its slowest oscillation when clamped, s; of a pendulum where weight exceeds
        stiffness."""
        bending = 3.5*math.sqrt(self.bending*self.length/self.mass)/self.length**2
        return 2*math.pi/math.hypot(bending, math.sqrt(GRAVITY/self.length)*(self.weight > 3))


def circle(d, radius):
    if d.odds(0.2):  # tapered
        return {"circle": {"radius": f"{radius}*(1 - {d.number(0.1, 0.7)}*x/L)"}}
    return {"circle": {"radius": radius}}


def tube(d, radius):
    return {"tube": {"radius": radius, "inner": rounded(radius*d.number(0.3, 0.8))}}


def rectangle(d, radius):
    return {"rectangle": {"y": rounded(radius*d.number(1, 4)), "z": rounded(radius*2)}}


def ellipse(d, radius):
    return {"ellipse": {"y": rounded(radius*d.number(1, 3)), "z": rounded(radius*2)}}


def elliptic_tube(d, radius):
    y = rounded(radius*d.number(1, 3))
    return {"elliptic_tube": {"y": y, "z": rounded(radius*2), "inner": rounded(y*d.number(0.3, 0.8))}}


def basis(d, most=8):
    """A basis and, for piecewise ones, the number of elements."""
    kind = d.choose("legendre", "legendre", "legendre", "chebyshev", "monomial", "constant", "linear", "quadratic",
                    "cubic", "spline")
    if kind in ("legendre", "chebyshev", "monomial"):
        return f"{kind} {d.whole(2, most)}", None
    if kind == "spline":
        return f"spline {d.whole(1, 4)}", d.whole(1, 6)
    return kind, d.whole(1, 6) + 2*(kind == "constant")


def strain(d, planar=False, most=8):
    """The strains that vary, their basis, and further keys that the rod needs."""
    name, elements = basis(d, most)
    more = {"elements": elements} if elements else {}
    if planar:
        return d.choose({"bend_y": name}, {"bend_y": name, "stretch": name}), more
    whole = d.choose(f"kirchhoff {name}", f"kirchhoff {name}", f"cosserat {name}",
                     {"bend_y": name, "bend_z": name}, {"twist": name, "bend_y": name, "bend_z": name, "stretch": name})
    return whole, more


def draw_rod(d, among=MATERIALS, planar=False, heaviest=30.0, longest=1.5, most=8, shapes=None, rest=0.15):
    """A rod that its weight bends by no more than some radians."""
    while True:
        name, low, high, poisson, density = d.choose(*among)
        young, length, slender = d.scale(low, high), d.scale(0.05, longest), d.scale(10, 200)
        radius = rounded(length/slender, 3)
        bending = young*math.pi/4*radius**4
        mass = density*math.pi*radius**2*length
        weight = mass*GRAVITY*length**2/bending
        if weight < heaviest:
            break
    section = d.choose(*(shapes or [circle, circle, tube, rectangle, ellipse, elliptic_tube]))(d, radius)
    components, more = strain(d, planar, most)
    rod = {"length": length, "section": section, "material": "m", "strain": components, **more}
    if d.odds(rest):
        bend = d.choose("bend_y",) if planar else d.choose("bend_y", "bend_z")
        rod["rest"] = {bend: d.choose(d.number(-2, 2)/length, f"{d.number(-2, 2)}*x/L/({length})")}
        if isinstance(rod["rest"][bend], float):
            rod["rest"][bend] = rounded(rod["rest"][bend])
    material = {"young": young, "poisson": poisson, "density": density}
    return Rod(rod, material, length, radius, bending, mass, weight)


def damp(d, rod, ratios=(0, 0.005, 0.02, 0.05, 0.3)):
    """Gives the material a Kelvin-Voigt time that damps the slowest oscillation by one of these ratios."""
    ratio = d.choose(*ratios)
    if ratio:
        rod.material["damping"] = rounded(ratio*rod.period/math.pi, 3)


def mount(d, planar=False):
    """The direction of a clamped rod."""
    if planar:
        return {"x": d.choose([1, 0, 0], [0.6, 0, 0.8], [0.6, 0, -0.8], "-z" if d.odds(0.5) else "z")}
    return {"x": d.choose("z", "-z", "x", d.direction())} if d.odds(0.8) else {"rpy": d.vector(1.5)}


def tip_loads(d, rod, on="arm", planar=False, strength=(0.03, 2.0)):
    """Some loads of a rod: at the tip, in between, along it; in the world's axes or following."""
    loads = {}
    for i in range(d.whole(1, 3)):
        kind = d.choose("force", "force", "torque", "along", "middle")
        amount = d.scale(*strength)
        frame = {"frame": "body"} if d.odds(0.35) else {}
        name = f"load{i + 1}"
        if kind == "force":
            loads[name] = {"on": f"{on}.tip", "force": d.vector(amount*rod.force, planar), **frame}
        elif kind == "middle":
            loads[name] = {"on": f"{on}@{d.whole(20, 80)}%", "force": d.vector(amount*rod.force, planar), **frame}
        elif kind == "torque":
            moment = [0, rounded(amount*rod.force*rod.length*d.choose(-1, 1), 3), 0]
            if not planar:
                moment = d.vector(amount*rod.force*rod.length)
            loads[name] = {"on": f"{on}.tip", "torque": moment, "frame": "body"}
        else:
            per_length = d.vector(amount*rod.force/rod.length, planar)
            if d.odds(0.3):
                per_length = [f"{c}*(1 - x/L)" if c else 0 for c in per_length]
            loads[name] = {"along": on, "force": per_length, **frame}
    return loads


def body(d, mass, width):
    """A rigid body with a shape; its centre of mass may be offset from the link's frame."""
    shape = d.choose({"sphere": {"radius": rounded(width, 3)}},
                     {"box": [rounded(width*d.number(0.5, 2), 3) for _ in range(3)]},
                     {"cylinder": {"radius": rounded(width/2, 3), "length": rounded(width*d.number(0.5, 2), 3)}})
    made = {"mass": rounded(mass, 3), **shape}
    if d.odds(0.6):
        made["com"] = d.vector(width)
    return made


def rise(d, duration):
    """A law from 0 to 1 within the first part of a motion."""
    part = rounded(duration*d.number(0.2, 0.8), 3)
    return d.choose(f"ramp(t, 0, {part})", f"poly5(t, 0, {part})", f"linear(t, 0, {part})", f"sin(t*{rounded(3/part, 3)})")


def motion(d, period, periods=(0.5, 2.0), fine=(40, 120), **more):
    """A dynamic step: this many periods, in steps of a part of one; the number of steps is a multiple of 16."""
    step = rounded(period/d.number(*fine), 2)
    count = max(16, 16*round(d.number(*periods)*period/step/16))
    return {"for": rounded(count*step, 10), "step": step, **more}
