# SPDX-License-Identifier: MIT
"""Families of random robots. Each is a function of a source of random numbers and returns a model; its row of the table
at the end names the comparisons that must hold for it."""
import math

import parts
from chance import Chance, rounded

STATICS = ["alive", "engines", "basis", "nodes", "spaces", "path", "arc", "exists", "moved", "stable", "settles", "derivatives", "linear"]
MOTION = ["alive", "energy", "schemes", "steps", "adapt", "free_step", "damped_stages", "moved", "again", "derivatives"]


def model(title, robot, materials, study, probes, **more):
    """The keys of a file in the usual order, without empty ones."""
    made = {"sinew": 1, "title": title, "gravity": more.pop("gravity", None), "materials": materials, "robot": robot,
            **more, "study": study, "probes": probes}
    return {key: value for key, value in made.items() if value not in (None, {})}


def weight(d, light=0.25):
    """None for standard gravity; or zero, or another direction."""
    if d.odds(light):
        return 0
    return d.vector(parts.GRAVITY) if d.odds(0.2) else None


def single(d, title, study, rod, planar=False, **more):
    """A model of one clamped rod with an optional end body."""
    link = {"on": "world", "pose": parts.mount(d, planar), "rod": rod.rod}
    if d.odds(0.2):
        link["body"] = parts.body(d, rod.mass*d.scale(0.05, 1), rod.radius*2)
    more.setdefault("gravity", [0, 0, -parts.GRAVITY] if planar else weight(d))
    return model(title, {"arm": link}, {"m": rod.material}, study, {"tip": {"position": "arm.tip"}}, **more)


# ---- one rod -------------------------------------------------------------------------------------

def rod_static(d):
    rod = parts.draw_rod(d)
    return single(d, "A rod under loads", [{"static": {}}], rod, loads=parts.tip_loads(d, rod))


def rod_planar(d):
    """In a plane, soft, with strong loads: here there are many equilibria."""
    rod = parts.draw_rod(d, among=parts.SOFT, planar=True, heaviest=60)
    return single(d, "A soft rod in a plane", [{"static": {}}], rod, True,
                  loads=parts.tip_loads(d, rod, planar=True, strength=(0.01, 6)))


def rod_modes(d):
    rod = parts.draw_rod(d, heaviest=15)
    made = single(d, "Small motions of a rod", [{"static": {}}, {"modes": {"count": 3}}], rod,
                  loads=parts.tip_loads(d, rod, strength=(0.01, 0.5)) if d.odds(0.5) else {})
    made["probes"]["f"] = "frequency"
    return made


def rod_swing(d):
    """In a plane and without damping, as the comparison `period` requires."""
    rod = parts.draw_rod(d, planar=True, heaviest=10, rest=0)
    made = single(d, "A rod that swings a little", [{"static": {}}, {"modes": {"count": 2}}], rod, True)
    made["robot"]["arm"].pop("body", None)
    made["probes"]["f"] = "frequency"
    return made


def with_modes(d, made, **options):
    """The model with a modes step at the end."""
    made["study"] = made["study"] + [{"modes": {"count": d.whole(2, 5), **options}}]
    made["probes"]["f"] = "frequency"
    return made


def steady_modes(d):
    """A rod on a hub that rotates at up to some of its own frequencies."""
    rod = parts.draw_rod(d, among=parts.STIFF + parts.SOFT[2:], heaviest=4, most=6, rest=0)
    parts.damp(d, rod, (0, 0, 0.01))
    links = {"hub": {"on": "world", "joint": "revolute", "axis": d.choose("y", "z")},
             "arm": {"on": "hub", "pose": {"x": d.choose("x", d.direction())}, "rod": rod.rod}}
    motor = {"motor": {"joint": "hub", "rate": rounded(2*math.pi/rod.period*d.scale(0.1, 2), 3)}}
    made = model("A rod on a hub that turns", links, {"m": rod.material}, [{"static": {"steady": True}}],
                 {"tip": {"position": "arm.tip"}}, actuators=motor, gravity=0)
    return with_modes(d, made, steady=True)


def rod_release(d):
    """Loads that act at first are released."""
    rod = parts.draw_rod(d)
    parts.damp(d, rod)
    loads = parts.tip_loads(d, rod, strength=(0.03, 1.0))
    go = {"change": {name: "off" for name in loads}}
    return single(d, "A rod let go", [{"static": {}}, go, {"dynamic": parts.motion(d, rod.period)}], rod, loads=loads)


def rod_jump(d):
    """Loads and weight act at once, or increase gradually."""
    rod = parts.draw_rod(d, heaviest=10)
    parts.damp(d, rod)
    step = parts.motion(d, rod.period)
    loads = parts.tip_loads(d, rod, strength=(0.03, 0.7))
    if d.odds(0.5):
        law = parts.rise(d, step["for"])
        for load in loads.values():
            for key in ("force", "torque"):
                if key in load:
                    load[key] = [f"({c})*{law}" if c else 0 for c in load[key]]
    return single(d, "A rod struck by loads", [{"dynamic": step}], rod, loads=loads)


def rod_flight(d):
    """A free rod with an angular velocity."""
    rod = parts.draw_rod(d, heaviest=10)
    parts.damp(d, rod)
    step = parts.motion(d, rod.period, periods=(0.3, 1.0))
    speed = rod.length/rod.period
    made = single(d, "A rod that flies", [{"dynamic": step}], rod, gravity=0 if d.odds(0.5) else None)
    made["robot"]["arm"].update(joint="free")
    turn = d.vector(0.7*speed/rod.length)
    made["initial"] = {"arm": {"twist": turn + d.vector(0.3*speed)}}
    made["probes"]["root"] = {"position": "arm.root"}
    if d.odds(0.5):
        made["loads"] = {"push": {"on": "arm.tip", "force": d.vector(0.2*rod.force), "frame": "body",
                                  "when": f"t < {rounded(step['for']/3, 3)}"}}
    return made


# ---- tendons and chambers ------------------------------------------------------------------------

def cords(d, rod, law=None, planar=False, on="arm"):
    """Tendons and chambers along a rod, with given effort or given length."""
    made = {}
    for i in range(d.whole(1, 3)):
        place = rod.radius*d.number(0.3, 0.6)
        angle = d.choose(0, math.pi) if planar else d.number(0, 6.28)
        at = [0, 0 if planar else rounded(place*math.sin(angle), 3), rounded(place*math.cos(angle), 3)]
        if not planar and d.odds(0.2):  # helical
            turns = d.number(-6, 6)
            at = [0, f"{place:.3g}*sin({turns}*x/L)", f"{place:.3g}*cos({turns}*x/L)"]
        tension = rounded(d.scale(0.03, 1.0)*rod.bending/rod.length/place, 3)
        cord = {"along": on, "at": at}
        if d.odds(0.3):
            cord["to"] = f"{d.number(0.3, 0.9)}*L"
        factor = f"*{law}" if law else ""
        if d.odds(0.3):
            cord["area"] = rounded(math.pi*(0.25*rod.radius)**2, 3)
            made[f"air{i + 1}"] = {"chamber": cord, "effort": f"{rounded(tension/cord['area'], 3)}{factor}"}
        elif d.odds(0.25):
            shortening = rounded(0.3*place*d.number(0.2, 1), 3)
            cord["compliance"] = rounded(shortening/rod.length/tension/2, 3)
            if law and d.odds(0.3):
                cord.update(friction=d.number(0.02, 0.3), creep=rounded(place/rod.period/10, 2))
            made[f"cord{i + 1}"] = {"tendon": cord, "shortening": f"{shortening}{factor}"}
        else:
            if law and d.odds(0.3):
                cord.update(friction=d.number(0.02, 0.3), creep=rounded(place/rod.period/10, 2))
            made[f"cord{i + 1}"] = {"tendon": cord, "effort": f"{tension}{factor}"}
    return made



def tendon_static(d):
    rod = parts.draw_rod(d, shapes=[lambda _, r: {"circle": {"radius": r}}])
    loads = parts.tip_loads(d, rod, strength=(0.01, 0.3)) if d.odds(0.4) else {}
    return single(d, "A rod pulled by tendons", [{"static": {}}], rod, actuators=cords(d, rod), loads=loads)


def tendon_motion(d):
    rod = parts.draw_rod(d, heaviest=10, shapes=[lambda _, r: {"circle": {"radius": r}}])
    parts.damp(d, rod, (0, 0.02, 0.1, 0.3))
    step = parts.motion(d, rod.period)
    return single(d, "Tendons move a rod", [{"static": {}}, {"dynamic": step}], rod,
                  actuators=cords(d, rod, parts.rise(d, step["for"])))


# ---- rigid and hybrid trees ----------------------------------------------------------------------

JOINTS = {"revolute": 1, "prismatic": 1, "cylindrical": 2, "universal": 2, "spherical": 3, "planar": 3}


def spring(d, kind, mass, width, damping):
    """Springs and dampers of a joint, by coordinate; their scales are those of the body they carry."""
    turn, slide = mass*parts.GRAVITY*width*d.number(0.5, 3), mass*parts.GRAVITY/width*d.number(1, 5)
    rate = math.sqrt(parts.GRAVITY/width)
    stiffness = {"revolute": turn, "prismatic": slide, "cylindrical": [turn, slide], "universal": turn,
                 "spherical": turn, "planar": [slide, slide, turn]}[kind]
    damp = damping/rate
    made = {"stiffness": [rounded(c, 3) for c in stiffness] if isinstance(stiffness, list) else rounded(stiffness, 3)}
    if damping:
        made["damping"] = [rounded(c*damp, 3) for c in stiffness] if isinstance(stiffness, list) \
            else rounded(stiffness*damp, 3)
    return made


def rigid_links(d, count, springs, kinds=tuple(JOINTS)):
    """A tree of rigid bodies on joints, by name, and their initial positions."""
    width = d.scale(0.03, 0.5)
    links, initial = {}, {}
    for i in range(count):
        kind = d.choose(*kinds)
        mass = d.scale(0.05, 5)
        parent = "world" if i == 0 else f"body{d.whole(max(1, i - 1), i)}"
        link = {"on": parent, "joint": kind, "axis": d.choose("x", "y", "z", d.direction())}
        if kind == "spherical":
            del link["axis"]
        if i:
            link["pose"] = {"xyz": d.vector(width), **({"rpy": d.vector(1)} if d.odds(0.3) else {})}
        if springs or kind in ("prismatic", "cylindrical", "planar"):
            link.update(spring(d, kind, mass*(count - i), width, d.choose(0, 0.02, 0.2)))
        link["body"] = parts.body(d, mass, width)
        link["body"]["com"] = d.vector(width)
        links[f"body{i + 1}"] = link
        if kind in ("revolute", "universal") and d.odds(0.7):
            angles = [d.number(-1, 1) for _ in range(JOINTS[kind])]
            initial[f"body{i + 1}"] = {"position": angles if len(angles) > 1 else angles[0]}
    return links, initial, width


def tree_motion(d):
    count = d.whole(1, 4)
    links, initial, width = rigid_links(d, count, d.odds(0.5))
    step = parts.motion(d, 2*math.pi*math.sqrt(width/parts.GRAVITY), periods=(0.3, 0.8), fine=(60, 150))
    return model("A tree of rigid bodies", links, {}, [{"dynamic": step}],
                 {f"at{i + 1}": {"position": f"body{i + 1}"} for i in range(count)} | com_probes(links),
                 initial=initial, gravity=None if d.odds(0.8) else d.vector(parts.GRAVITY))


def tree_static(d):
    count = d.whole(1, 4)
    links, _, width = rigid_links(d, count, True, ("revolute", "universal", "spherical", "prismatic"))
    return model("A tree on springs", links, {}, [{"static": {}}], com_probes(links))


def com_probes(links):
    return {"centre": "center_of_mass"} if any("body" in link for link in links.values()) else {}


def hybrid(d, study):
    """Rods and bodies in series or as a fork, on joints with springs."""
    rod = parts.draw_rod(d, heaviest=8, most=5, shapes=[lambda _, r: {"circle": {"radius": r}}])
    parts.damp(d, rod, (0, 0.02, 0.1))
    links = {"base": {"on": "world", "pose": parts.mount(d), "joint": "revolute", "axis": d.choose("y", "z"),
                      "stiffness": rounded(rod.bending/rod.length*d.scale(0.3, 10), 3), "rod": rod.rod}}
    probes = {"tip1": {"position": "base.tip"}}
    if d.odds(0.5):
        links["base"]["damping"] = rounded(links["base"]["stiffness"]*rod.period*d.scale(0.002, 0.1), 3)
    last = "base"
    for i in range(d.whole(1, 2)):
        name = f"next{i + 1}"
        link = {"on": d.choose(last, "base")}
        if d.odds(0.6):
            link.update(joint=d.choose("revolute", "universal"), axis="y",
                        stiffness=rounded(rod.bending/rod.length*d.scale(0.3, 10), 3))
        if d.odds(0.5):
            link["rod"] = {**rod.rod, "length": rounded(rod.length*d.number(0.3, 1), 3)}
            link["rod"].pop("rest", None)
            probes[f"tip{i + 2}"] = {"position": f"{name}.tip"}
        else:
            link["body"] = parts.body(d, rod.mass*d.scale(0.2, 2), rod.radius*3)
            link["body"]["com"] = d.vector(rod.length/5)
            probes[f"tip{i + 2}"] = {"position": name}
        links[name] = link
        last = name
    loads = {"push": {"on": last, "force": d.vector(0.2*d.scale(0.05, 1)*rod.force)}}
    made = model("Rods and bodies on joints", links, {"m": rod.material}, study(rod, loads), probes, loads=loads,
                 gravity=weight(d))
    if d.odds(0.3):
        made["actuators"] = {k: v for k, v in cords(d, rod, on="base").items() if "effort" in v}
    return made


def hybrid_static(d):
    return hybrid(d, lambda rod, loads: [{"static": {}}])


def hybrid_motion(d):
    return hybrid(d, lambda rod, loads: [{"static": {}}, {"change": {name: "off" for name in loads}},
                                         {"dynamic": parts.motion(d, 3*rod.period, periods=(0.3, 0.8))}])


def hybrid_modes(d):
    return with_modes(d, hybrid(d, lambda rod, loads: [{"static": {}}]))


def driven(d):
    """Joints, chambers and poses that follow laws."""
    rod = parts.draw_rod(d, heaviest=8, shapes=[lambda _, r: {"circle": {"radius": r}}])
    parts.damp(d, rod, (0.02, 0.1))
    step = parts.motion(d, rod.period, periods=(1, 2))
    law = f"poly5(t, 0, {rounded(step['for']*d.number(0.5, 0.9), 3)})"
    links = {"hub": {"on": "world", "joint": d.choose("revolute", "prismatic"), "axis": d.choose("y", "z")},
             "arm": {"on": "hub", "pose": parts.mount(d), "rod": rod.rod}}
    reach = d.number(-1, 1) if links["hub"]["joint"] == "revolute" else rounded(0.4*rod.length*d.number(-1, 1), 3)
    actuators = {"motor": {"joint": "hub", "position": f"{reach}*{law}"}}
    if d.odds(0.4):
        actuators |= cords(d, rod, law)
    if d.odds(0.3):
        links["hub"]["pose"] = {"xyz": [f"{rounded(rod.length*0.2, 3)}*{law}", 0, 0]}
    return model("A driven arm", links, {"m": rod.material}, [{"static": {}}, {"dynamic": step}],
                 {"tip": {"position": "arm.tip"}}, actuators=actuators, gravity=weight(d))


# ---- closed loops --------------------------------------------------------------------------------

def bar(d, along, mass):
    length = math.hypot(*along[:2])
    return {"mass": mass, "com": [rounded(c/2) for c in along], "inertia": [rounded(mass*length**2/12, 3)]*3}


def four_bar(d):
    """A planar quadrilateral of bars, one of them possibly a rod; its loop is closed at the start."""
    width = d.scale(0.1, 1)
    a, b = [0.0, 0.0], [d.number(-0.2, 0.2)*width, d.number(0.3, 0.6)*width]
    c, e = [d.number(0.6, 1.2)*width, d.number(0.4, 1.0)*width], [d.number(0.7, 1.2)*width, d.number(-0.2, 0.1)*width]
    a, b, c, e = ([rounded(v) for v in p] for p in (a, b, c, e))

    def way(p, q):
        return [rounded(q[0] - p[0]), rounded(q[1] - p[1]), 0]

    mass = d.scale(0.1, 3)
    links = {"crank": {"on": "world", "joint": "revolute", "body": bar(d, way(a, b), mass)},
             "coupler": {"on": "crank", "pose": {"xyz": way(a, b)}, "joint": "revolute", "body": bar(d, way(b, c), mass)},
             "rocker": {"on": "world", "pose": {"xyz": way(a, e)}, "joint": "revolute", "body": bar(d, way(e, c), mass)}}
    sites = {"end": {"on": "coupler", "pose": {"xyz": way(b, c)}}, "top": {"on": "rocker", "pose": {"xyz": way(e, c)}}}
    made = model("A four-bar linkage", links, {}, [], {"end": {"position": "end"}, "top": {"position": "top"}},
                 sites=sites, loops={"pin": {"join": ["end", "top"], "as": "revolute"}}, gravity=[0, -parts.GRAVITY, 0])
    if d.odds(0.4):
        length = math.dist(b, c)
        young = d.scale(1e7, 2e11)
        radius = rounded((mass*parts.GRAVITY*length**2/young*4/math.pi*d.scale(1, 20))**0.25, 3)
        made["materials"] = {"m": {"young": young, "poisson": 0.3, "density": rounded(mass/(math.pi*radius**2*length), 3)}}
        links["coupler"] = {"on": "crank", "pose": {"xyz": way(a, b)}, "joint": "revolute"}
        links["beam"] = {"on": "coupler", "pose": {"x": way(b, c)},
                         "rod": {"length": length, "section": {"circle": {"radius": radius}}, "material": "m",
                                 "strain": {"bend_z": f"legendre {d.whole(2, 5)}"}}}
        sites["end"] = {"on": "beam.tip", "pose": {"x": [way(b, c)[0], -way(b, c)[1], 0]}}
        made = {key: made[key] for key in ("sinew", "title", "gravity", "materials", "robot", "sites", "loops", "study",
                                           "probes")}
    return made, width, mass


def loop_static(d):
    made, width, mass = four_bar(d)
    stiffness = mass*parts.GRAVITY*width
    for name in ("crank", "coupler"):
        made["robot"][name]["stiffness"] = rounded(stiffness*d.scale(0.3, 10), 3)
    made["loads"] = {"push": {"on": "end", "force": [rounded(c, 3) for c in (
        mass*parts.GRAVITY*d.number(-1, 1), mass*parts.GRAVITY*d.number(-1, 1), 0)]}}
    made["study"] = [{"static": {}}]
    return reorder(made)


def loop_motion(d):
    made, width, mass = four_bar(d)
    step = parts.motion(d, 2*math.pi*math.sqrt(width/parts.GRAVITY), periods=(0.3, 0.8), fine=(60, 150))
    if d.odds(0.4):
        made["robot"]["crank"]["damping"] = rounded(mass*math.sqrt(parts.GRAVITY*width**3)*d.scale(0.01, 0.3), 3)
    if "materials" in made:
        made["materials"]["m"]["damping"] = rounded(step["step"]*d.scale(0.1, 5), 2)
        made["study"] = [{"dynamic": step}]
    elif d.odds(0.3):
        made["actuators"] = {"motor": {"joint": "crank", "position": f"{d.number(-0.4, 0.4)}*poly5(t, 0, {step['for']})"}}
    made["study"] = [{"dynamic": step}]
    return reorder(made)


def reorder(made):
    keys = ("sinew", "title", "gravity", "materials", "robot", "sites", "loops", "actuators", "loads", "contacts",
            "springs", "fluid", "initial", "study", "probes", "record")
    return {key: made[key] for key in keys if key in made and made[key] not in (None, {})}


def legs(d, planar, upright=False):
    """A plate on flexible legs, with loops closed at the start; upright legs are parallel, so that constraint rows are
    redundant at first."""
    rod = parts.draw_rod(d, among=parts.STIFF if d.odds(0.7) else parts.SOFT, heaviest=2, most=6, planar=planar, rest=0,
                         shapes=[lambda _, r: {"circle": {"radius": r}}])
    count, width = d.whole(2, 4), rod.length*d.number(0.2, 0.6)
    mass = rounded(rod.mass*d.scale(0.3, 2), 3)
    kind = d.choose("fixed", "revolute", "spherical") if planar else d.choose("fixed", "spherical", "fixed")
    links = {"plate": {"on": "world", "pose": {"xyz": [0, 0, rod.length]}, "joint": "free",
                       "body": {"mass": mass, "box": [rounded(width*2, 3), rounded(width*2, 3), rounded(width/5, 3)]}}}
    sites, loops = {}, {}
    for i in range(count):
        angle = 2*math.pi*i/count + 0.3
        seat = [width*math.cos(angle), 0 if planar else width*math.sin(angle), 0]
        if planar:
            seat[0] = width*(2*i/(count - 1) - 1)
        seat = [rounded(c) for c in seat]
        lean = [0, 0] if upright else [width*d.number(-0.7, 0.7), 0 if planar else width*d.number(-0.7, 0.7)]
        foot = [rounded(seat[0] + lean[0]), rounded(seat[1] + lean[1]), 0]
        way = [rounded(seat[0] - foot[0]), rounded(seat[1] - foot[1]), rod.length]
        links[f"leg{i + 1}"] = {"on": "world", "pose": {"xyz": foot, "x": way},
                                "rod": {**rod.rod, "length": math.sqrt(sum(c*c for c in way))}}
        sites[f"seat{i + 1}"] = {"on": "plate", "pose": {"xyz": seat, "x": way}}
        loops[f"joint{i + 1}"] = {"join": [f"seat{i + 1}", f"leg{i + 1}.tip"], "as": kind,
                                  **({"axis": "y"} if kind == "revolute" else {})}
    return rod, model("A plate on flexible legs", links, {"m": rod.material}, [], {"plate": {"position": "plate"}},
                      sites=sites, loops=loops, gravity=None if d.odds(0.7) else 0)


def parallel_static(d, upright=False):
    planar = d.odds(0.4)
    rod, made = legs(d, planar, upright)
    made["loads"] = {"push": {"on": "plate", "force": d.vector(rod.force*d.scale(0.05, 2), planar)}}
    made["study"] = [{"static": {}}]
    return reorder(made)


def parallel_modes(d):
    """Legs that stretch: with inextensible ones the axial forces, and with these the frequencies, are undetermined."""
    planar = d.odds(0.4)
    rod, made = legs(d, planar)
    for leg in (link["rod"] for link in made["robot"].values() if "rod" in link):
        if isinstance(leg["strain"], dict):
            leg["strain"] = {**leg["strain"], "stretch": leg["strain"]["bend_y"]}
        else:
            leg["strain"] = leg["strain"].replace("kirchhoff", "cosserat")
    made["loads"] = {"push": {"on": "plate", "force": d.vector(rod.force*d.scale(0.01, 0.5), planar)}}
    made["study"] = [{"static": {}}]
    return reorder(with_modes(d, made))


def held_modes(d):
    """A clamped rod whose tip is also held, slightly away from its position."""
    rod = parts.draw_rod(d, heaviest=8, rest=0, shapes=[lambda _, r: {"circle": {"radius": r}}])
    made = single(d, "A rod held at both ends", [{"static": {}}], rod)
    made["robot"]["arm"]["pose"] = {"x": "x"}
    made["robot"]["arm"].pop("body", None)
    made["probes"]["middle"] = {"position": "arm@50%"}
    place = [rounded(rod.length*d.number(*part)) for part in ((0.8, 0.98), (0.05, 0.3), (0, 0.2))]
    made["loops"] = {"hold": {"join": ["world", "arm.tip"], "as": d.choose("spherical", "spherical", "fixed"),
                              "pose": {"xyz": place}}}
    return reorder(with_modes(d, made))


def threaded(d, title, study):
    """A clamped rod that slides through an eye or a sleeve, slightly away from its position; uniform, as it must be."""
    rod = parts.draw_rod(d, heaviest=8, rest=0, shapes=[lambda _, r: {"circle": {"radius": r}}])
    made = single(d, title, study, rod)
    if "constant" in str(rod.rod["strain"]):  # a discontinuous basis, of which material would not pass the nodes
        rod.rod["strain"] = "kirchhoff linear"
    made["robot"]["arm"]["pose"] = {"x": "x"}
    at = d.number(0.4, 0.8)
    place = [rounded(rod.length*at*d.number(0.93, 0.99)), rounded(rod.length*d.number(0.02, 0.12)),
             rounded(rod.length*d.number(0, 0.08))]
    eye = {"join": ["world", f"arm@{rounded(100*at)}%"], "as": "spherical", "pose": {"xyz": place}, "slides": "on"}
    if d.odds(0.4):
        eye.update({"as": "revolute", "axis": "x"})
    made["loops"] = {"eye": eye}
    made["probes"]["C"] = {"value": "eye"}
    return rod, made


def threaded_static(d):
    rod, made = threaded(d, "A rod through an eye", [{"static": {}}])
    made["loads"] = {"push": {"on": "arm.tip", "force": d.vector(rod.force*d.scale(0.01, 0.5)),
                              "frame": d.choose("world", "body")}}
    return reorder(made)


def threaded_modes(d):
    return reorder(with_modes(d, threaded(d, "Small motions of a rod through an eye", [{"static": {}}])[1]))


def threaded_motion(d):
    rod, made = threaded(d, "A rod is let go in an eye", [{"static": {}}])
    parts.damp(d, rod, (0.01, 0.05, 0.2))
    made["loads"] = {"push": {"on": "arm.tip", "force": d.vector(rod.force*d.scale(0.05, 0.5))}}
    period = 0.25*rod.period  # the eye leaves about half of its length free
    if d.odds(0.3):
        made["loops"]["eye"]["friction"] = rounded(d.number(0.05, 0.4))
    made["study"] = [{"static": {}}, {"change": {"push": "off"}}, {"dynamic": parts.motion(d, period)}]
    return reorder(made)


def parallel_motion(d, upright=False):
    rod, made = legs(d, d.odds(0.4), upright)
    parts.damp(d, rod, (0.01, 0.05, 0.2))
    made["loads"] = {"push": {"on": "plate", "force": d.vector(rod.force*d.scale(0.05, 0.7))}}
    made["study"] = [{"static": {}}, {"change": {"push": "off"}}, {"dynamic": parts.motion(d, rod.period)}]
    return reorder(made)


def upright(d):
    return parallel_static(d, True) if d.odds(0.5) else parallel_motion(d, True)


def cranks(d):
    """Three parallel cranks carry one bar: loops with redundant constraint rows."""
    width, mass, count = d.scale(0.1, 1), d.scale(0.1, 3), d.whole(2, 4)
    arm = [0, rounded(width*d.number(0.3, 0.8)), 0]
    links = {"crank1": {"on": "world", "joint": "revolute", "body": bar(d, arm, mass)},
             "bar": {"on": "crank1", "pose": {"xyz": arm}, "joint": "revolute", "body": {**bar(d, [width, 0, 0], mass)}}}
    sites, loops = {}, {}
    for i in range(2, count + 1):
        place = [rounded(width*(i - 1)/(count - 1)), 0, 0]
        links[f"crank{i}"] = {"on": "world", "pose": {"xyz": place}, "joint": "revolute", "body": bar(d, arm, mass)}
        sites[f"top{i}"] = {"on": f"crank{i}", "pose": {"xyz": arm}}
        sites[f"seat{i}"] = {"on": "bar", "pose": {"xyz": place}}
        loops[f"pin{i}"] = {"join": [f"seat{i}", f"top{i}"], "as": "revolute"}
    links["crank1"]["damping"] = rounded(mass*math.sqrt(parts.GRAVITY*width**3)*d.choose(0.01, 0.1), 3)
    step = parts.motion(d, 2*math.pi*math.sqrt(width/parts.GRAVITY), periods=(0.3, 0.8), fine=(60, 150))
    return reorder(model("Parallel cranks", links, {}, [{"dynamic": step}], {"bar": {"position": "bar"}}, sites=sites,
                         loops=loops, initial={"crank1": {"position": d.number(0.3, 1.2), }},
                         gravity=[0, -parts.GRAVITY, 0]))


# ---- contact, fluid, events ----------------------------------------------------------------------

def drop(d):
    """A body or a rod falls on the ground, which may be tilted, lossy or rough."""
    width, mass = d.scale(0.02, 0.2), d.scale(0.05, 2)
    height = width*d.number(0.5, 4)
    stiffness = d.scale(30, 3000)*mass*parts.GRAVITY/width
    fall = math.sqrt(2*height/parts.GRAVITY)
    touch = math.pi*math.sqrt(mass/stiffness)
    ground = {"on": "thing", "stiffness": rounded(stiffness, 3)}
    links, materials, initial = {}, {}, {}
    if d.odds(0.3):
        rod = parts.draw_rod(d, heaviest=3, longest=0.5, most=4, rest=0, shapes=[lambda _, r: {"circle": {"radius": r}}])
        parts.damp(d, rod, (0, 0.05, 0.2))
        links["thing"] = {"on": "world", "pose": {"xyz": [0, 0, rounded(rod.radius + height, 3)]}, "joint": "free",
                          "rod": rod.rod}
        materials = {"m": rod.material}
        stiffness = d.scale(30, 3000)*rod.mass*parts.GRAVITY/rod.length/rod.radius
        ground["stiffness"] = rounded(stiffness, 3)
        touch = math.pi*math.sqrt(rod.mass/rod.length/stiffness)
        probes = {"tip": {"position": "thing.tip"}, "root": {"position": "thing.root"}}
    else:
        shape = parts.body(d, mass, width)
        shape.pop("com", None)
        links["thing"] = {"on": "world", "pose": {"xyz": [0, 0, rounded(width + height, 3)]}, "joint": "free", "body": shape}
        probes = {"at": {"position": "thing"}}
        if d.odds(0.4):
            initial = {"thing": {"twist": d.vector(2*height/fall/width) + d.vector(0.3*height/fall)}}
    if d.odds(0.5):
        ground["damping"] = rounded(d.scale(0.05, 1)*fall/height, 3)
    if d.odds(0.5):
        ground["friction"] = d.number(0.1, 0.8)
    step = rounded(min(touch*d.choose(0.05, 0.1, 0.2, 0.5, 1.0), fall/10), 2)
    count = max(32, min(1600, 16*round(2.2*fall/step/16)))
    made = model("Something falls on the ground", links, materials, [{"dynamic": {"for": rounded(count*step, 10), "step": step}}],
                 probes, contacts={"floor": {"ground": ground}}, initial=initial)
    return reorder(made)


SHAPES = {
    "plane": lambda d, w: {},
    "sphere": lambda d, w: {"radius": rounded(w, 3)},
    "capsule": lambda d, w: {"radius": rounded(w, 3), "length": rounded(w*d.number(0.5, 3), 3), "axis": d.choose("x", "z", [1, 1, 0])},
    "box": lambda d, w: {"size": [rounded(2*w*d.number(1, 3), 3) for _ in range(3)], "rounding": rounded(w*d.number(0.1, 0.8), 3)},
    "cylinder": lambda d, w: {"radius": rounded(w, 3), "axis": d.choose("x", "y", [1, 2, 0])},
    "torus": lambda d, w: {"radius": rounded(3*w, 3), "section": rounded(w, 3), "axis": d.choose("x", "y")},
    "hull": lambda d, w: {"rounding": rounded(w*d.number(0.3, 0.6), 3),
                          "corners": [[rounded(w*d.number(-1, 1), 3) for _ in range(3)] for _ in range(d.whole(6, 30))]},
    "height": lambda d, w: {"area": [rounded(20*w, 3), rounded(20*w, 3)], "cells": 40,
                            "height": f"{rounded(w*d.number(0.1, 0.5), 3)} m*cos(x/{rounded(3*w, 3)} m)*cos(y/{rounded(4*w, 3)} m)"},
}


def obstacle(d):
    """A ball, a box, a cylinder or a rod falls on an obstacle, which is fixed, moves up and down, or rests on a spring."""
    width, mass = d.scale(0.02, 0.1), d.scale(0.05, 2)
    height, wide = width*d.number(0.5, 3), width*d.number(0.7, 3)
    fall = math.sqrt(2*height/parts.GRAVITY)
    kind = d.choose(*SHAPES)
    solid = {"links": "thing", "shape": kind, **SHAPES[kind](d, wide)}
    above = 0 if kind == "plane" else wide + (solid["size"][2]/2 - wide if kind == "box" else 0)
    if kind == "capsule":
        above += solid["length"]/2
    if kind == "torus":
        above += 3*wide
    if kind == "hull":
        above = max(z for _, _, z in solid["corners"]) + solid["rounding"]
    links, materials = {}, {}
    if d.odds(0.4):
        rod = parts.draw_rod(d, heaviest=3, longest=0.5, most=4, rest=0, shapes=[lambda _, r: {"circle": {"radius": r}}])
        parts.damp(d, rod, (0.05, 0.2))
        links["thing"] = {"on": "world", "pose": {"xyz": [rounded(-0.4*rod.length, 3), 0, rounded(above + rod.radius + height, 3)]},
                          "joint": "free", "rod": {**rod.rod, "nodes": 60}}
        materials = {"m": rod.material}
        mass, stiffness = rod.mass, d.scale(300, 3000)*rod.mass*parts.GRAVITY/rod.length/rod.radius
        touch = math.pi*math.sqrt(rod.mass/rod.length/stiffness)
        probes = {"tip": {"position": "thing.tip"}, "root": {"position": "thing.root"}}
    else:
        stiffness = d.scale(100, 3000)*mass*parts.GRAVITY/width
        touch = math.pi*math.sqrt(mass/stiffness)
        links["thing"] = {"on": "world", "pose": {"xyz": [rounded(0.2*width*d.number(-1, 1), 3), 0, rounded(above + width + height, 3)]},
                          "joint": "free", "body": {"sphere": {"radius": rounded(width, 3)}, "mass": rounded(mass, 3)}}
        probes = {"at": {"position": "thing"}}
        if d.odds(0.3):
            body, box = links["thing"]["body"], d.odds(0.5)
            del body["sphere"]
            body["box" if box else "cylinder"] = [rounded(width*d.number(0.6, 1.1), 3) for _ in range(3)] if box else {
                "radius": rounded(0.6*width, 3), "length": rounded(width*d.number(0.8, 1.5), 3), "axis": d.choose("x", "y", "z")}
            if kind == "cylinder":
                solid["length"] = rounded(8*wide, 3)
    solid["stiffness"] = rounded(stiffness, 3)
    how = d.choose("fixed", "moves", "carried")
    if how == "moves":
        solid["at"] = [0, 0, f"{rounded(0.2*height, 3)}*sin({rounded(3/fall, 3)}*t)"]
    elif how == "carried":
        links["tray"] = {"on": "world", "joint": "prismatic", "axis": "z", "stiffness": rounded(40*mass*parts.GRAVITY/width, 3),
                         "body": {"mass": rounded(mass*d.scale(0.5, 5), 3)}}
        solid["on"] = "tray"
    if d.odds(0.5):
        solid["damping"] = rounded(d.scale(0.05, 1)*fall/height, 3)
    if d.odds(0.5):
        solid["friction"] = d.number(0.1, 0.8)
    probes["touch"] = {"contact": "solid"}
    step = rounded(min(touch*d.choose(0.05, 0.1, 0.2, 0.5, 1.0), fall/10), 2)
    count = max(32, min(800, 16*round(2.2*fall/step/16)))
    return reorder(model("Something falls on an obstacle", links, materials,
                         [{"dynamic": {"for": rounded(count*step, 10), "step": step}}], probes, contacts={"solid": {"obstacle": solid}}))


PARTS = {
    "sphere": lambda d, w: {"radius": rounded(0.5*w, 3)},
    "capsule": lambda d, w: {"radius": rounded(0.3*w, 3), "length": rounded(0.4*w, 3)},
    "box": lambda d, w: {"size": [rounded(w*d.number(0.4, 0.9), 3) for _ in range(3)]},
    "cylinder": lambda d, w: {"radius": rounded(0.4*w, 3), "length": rounded(w*d.number(0.3, 0.8), 3)},
    "hull": lambda d, w: {"rounding": rounded(0.05*w, 3), "corners": [[rounded(0.4*w*d.number(-1, 1), 3) for _ in range(3)] for _ in range(8)]},
}


def shapes(d):
    """A body of several shapes falls on an obstacle, or on a body of several shapes that rests on a spring."""
    width, mass = d.scale(0.02, 0.1), d.scale(0.05, 2)

    def body(least):
        def part():
            kind = d.choose(*PARTS)
            return {"shape": kind, **PARTS[kind](d, width), "pose": {"xyz": [rounded(0.6*width*d.number(-1, 1), 3) for _ in range(3)],
                                                                     "rpy": [d.number(-1.5, 1.5) for _ in range(3)]}}
        return {"mass": rounded(mass, 3), "shapes": [part() for _ in range(d.whole(least, 4))]}
    height = width*d.number(0.5, 3)
    fall = math.sqrt(2*height/parts.GRAVITY)
    stiffness = d.scale(100, 1000)*mass*parts.GRAVITY/width
    touch = math.pi*math.sqrt(mass/stiffness)
    solid = {"links": "thing", "stiffness": rounded(stiffness, 3), "spacing": rounded(0.3*width, 3)}
    links = {"thing": {"on": "world", "pose": {"xyz": [0, 0, rounded(2.6*width + height, 3)]}, "joint": "free", "body": body(2)}}
    if d.odds(0.5):
        links["tray"] = {"on": "world", "joint": "prismatic", "axis": "z", "stiffness": rounded(40*mass*parts.GRAVITY/width, 3), "body": body(1)}
        solid |= {"on": "tray", "shape": "body"}
    else:
        kind = d.choose("plane", "sphere", "box", "hull")
        solid |= {"shape": kind, **SHAPES[kind](d, width)}
    if d.odds(0.5):
        solid["friction"] = d.number(0.1, 0.8)
    step = rounded(min(touch*d.choose(0.05, 0.1, 0.2), fall/10), 2)
    count = max(32, min(400, 16*round(2*fall/step/16)))
    return reorder(model("A body of several shapes falls", links, {}, [{"dynamic": {"for": rounded(count*step, 10), "step": step}}],
                         {"at": {"position": "thing"}, "touch": {"contact": "solid"}}, contacts={"solid": {"obstacle": solid}}))


def touching(d):
    """A rod falls on another one at any angle, which is clamped at one end or hinged to a post."""
    shape = [lambda _, r: {"circle": {"radius": r}}, lambda _, r: {"circle": {"radius": f"{r}*(1 - 0.4*x/L)"}},
             lambda _, r: {"tube": {"radius": r, "inner": rounded(r*0.6, 3)}}]
    rods = [parts.draw_rod(d, heaviest=3, longest=0.5, most=4, rest=0, shapes=shape) for _ in range(2)]
    for rod in rods:
        parts.damp(d, rod, (0.05, 0.2))
        rod.rod["material"] = f"m{rods.index(rod) + 1}"
    low, high = rods
    turn, height = d.number(0, 3.1), (low.radius + high.radius)*d.number(0.5, 3)
    fall, where = math.sqrt(2*height/parts.GRAVITY), 0.6*low.length
    links = {"low": {"on": "world", "rod": {**low.rod, "nodes": 20}},
             "high": {"on": "world", "joint": "free", "rod": {**high.rod, "nodes": 20},
                      "pose": {"xyz": [rounded(where - 0.5*high.length*math.cos(turn), 3), rounded(-0.5*high.length*math.sin(turn), 3),
                                       rounded(low.radius + high.radius + height, 3)], "rpy": [0, 0, rounded(turn, 3)]}}}
    if d.odds(0.3):
        links["low"].update(joint="revolute", axis="y", stiffness=rounded(20*low.mass*parts.GRAVITY*low.length, 3))
    weight = (low.mass + high.mass)*parts.GRAVITY
    law = {"between": d.choose(["low", "high"], "all"), "stiffness": rounded(d.scale(300, 3000)*weight/high.length/high.radius, 3)}
    law["crossing"] = rounded(law["stiffness"]*high.length*d.number(0.05, 0.3), 3)
    touch = math.pi*math.sqrt(min(low.mass, high.mass)/max(law["crossing"], law["stiffness"]*high.length))
    if d.odds(0.5):
        law["damping"] = rounded(d.scale(0.05, 1)*fall/height, 3)
    if d.odds(0.5):
        law["friction"] = d.number(0.1, 0.8)
    step = rounded(min(touch*d.choose(0.05, 0.1, 0.2, 0.5, 1.0), fall/10), 2)
    count = max(32, min(600, 16*round(2.2*fall/step/16)))
    return reorder(model("A rod falls on another one", links, {"m1": low.material, "m2": high.material},
                         [{"dynamic": {"for": rounded(count*step, 10), "step": step}}],
                         {"tip": {"position": "high.tip"}, "low": {"position": "low.tip"}, "touch": {"contact": "rods"}},
                         contacts={"rods": {"rods": law}}))


def pressed(d):
    """A clamped rod sags onto the ground."""
    rod = parts.draw_rod(d, among=parts.SOFT, heaviest=30, shapes=[lambda _, r: {"circle": {"radius": r}}])
    parts.damp(d, rod, (0.1, 0.3))
    load = rod.mass*parts.GRAVITY/rod.length
    ground = {"on": "arm", "at": [0, 0, rounded(-rod.length*d.number(0.05, 0.4), 3)],
              "stiffness": rounded(load/rod.radius*d.scale(5, 300), 3)}
    made = single(d, "A rod sags onto the ground", [{"static": {}}], rod, gravity=None)
    made["robot"]["arm"]["pose"] = {"x": [1, 0, d.number(-0.3, 0.3)]}
    made["contacts"] = {"floor": {"ground": ground}}
    if d.odds(0.5):
        ground["damping"] = rounded(d.scale(0.1, 2)/math.sqrt(parts.GRAVITY*rod.length), 3)
        made["study"] = [{"dynamic": parts.motion(d, rod.period, periods=(0.5, 1.5))}]
    return reorder(made)


def elements(d, rod):
    """Springs, cables, dampers and bushings between sections of a rod, of about its own stiffness."""
    made = {}
    for i in range(d.choose(1, 1, 2)):
        ends, span = d.choose((["arm.root", "arm.tip"], 1), (["arm@30%", "arm.tip"], 0.7), (["arm.root", "arm@60%"], 0.6))
        k = rod.force/rod.length*d.scale(0.05, 3)
        rest = rounded(span*rod.length*d.number(0.7, 1.1), 3)
        kind = d.choose("spring", "cable", "damper", "bushing")
        element = {kind: ends}
        if kind in ("spring", "cable"):
            element |= {"rest": rest, "stiffness": rounded(k, 3)}
        if kind == "cable":
            element["smooth"] = rounded(0.02*rod.length, 3)
        if kind == "damper" or (kind == "spring" and d.odds(0.4)):
            element["damping"] = rounded(0.1*k*rod.period, 3)
        if kind == "bushing":
            element["stiffness"] = [rounded(k*rod.length**2*d.number(0.02, 0.1), 3) for _ in range(3)] + [rounded(0.1*k, 3)]*3
        made[f"element{i}"] = element
    return made


def sprung_static(d):
    rod = parts.draw_rod(d)
    made = single(d, "A rod with springs", [{"static": {}}], rod, loads=parts.tip_loads(d, rod))
    made["springs"] = elements(d, rod)
    return reorder(made)


def sprung_motion(d):
    rod = parts.draw_rod(d)
    parts.damp(d, rod)
    loads = parts.tip_loads(d, rod, strength=(0.03, 1.0))
    go = {"change": {name: "off" for name in loads}}
    made = single(d, "A rod with springs let go", [{"static": {}}, go, {"dynamic": parts.motion(d, rod.period)}], rod,
                  loads=loads)
    made["springs"] = elements(d, rod)
    return reorder(made)


def tubes(d, title, study, **rotation):
    """Concentric tubes, each wider than the one in it and a little shorter, with a load at the tip."""
    inner, wall, reach, made = d.scale(3e-4, 6e-4), d.scale(1e-4, 3e-4), d.scale(0.1, 0.3), {}
    young, first = d.scale(4e10, 7e10), 0.0
    for name in ("one", "two", "three")[:d.whole(2, 3)]:
        outer = inner + wall
        behind, straight = d.number(0.0, 0.08), reach*d.number(0.0, 0.6)
        first = first or young*math.pi/4*(outer**4 - inner**4)
        made[name] = {"radius": rounded(outer, 5), "inner": rounded(inner, 5), "material": "m", "straight": rounded(behind + straight, 5),
                      "curved": rounded(reach - straight, 5), "curvature": rounded(d.scale(0.2, 1.5)/reach*d.choose(-1, 1)),
                      "translation": -behind, "rotation": rounded(d.number(-3, 3))}
        inner, reach = outer + 5e-5, reach*d.number(0.4, 0.95)
    made["one"].update(rotation)
    length = made["one"]["straight"] + made["one"]["curved"] + made["one"]["translation"]
    loads = {"tip": {"on": "arm.tip", "force": d.vector(d.scale(0.01, 1)*first/length**2)}} if d.odds(0.7) else {}
    if d.odds(0.3):
        loads["screw"] = {"on": "arm.tip", "torque": d.vector(d.scale(0.01, 0.5)*first/length), "frame": "body"}
    return model(title, {"arm": {"on": "world", "pose": parts.mount(d), "tubes": made}},
                 {"m": {"young": young, "poisson": 0.3, "density": 6450, "damping": 1e-4}}, study, {"tip": {"position": "arm.tip"}},
                 gravity=weight(d), loads=loads)


def tubes_static(d):
    return tubes(d, "Concentric tubes under loads", [{"static": {}}])


def tubes_motion(d):
    """The base of the innermost one is turned."""
    time = d.scale(0.05, 0.3)
    return tubes(d, "Concentric tubes that are turned", [{"static": {}}, {"dynamic": {"for": time, "step": rounded(time/d.whole(60, 120), 3)}}],
                 rotation=f"{d.number(-1, 1)}*ramp(t, 0 s, {rounded(time/2)} s)")


def fluid_static(d):
    rod = parts.draw_rod(d, among=parts.SOFT, heaviest=30)
    speed = math.sqrt(d.scale(0.03, 1)*rod.force/rod.length/(500*2*rod.radius))
    made = single(d, "A reed in a current", [{"static": {}}], rod)
    made["fluid"] = {"water": {"on": "arm", "density": 1000, "drag": {"normal": d.number(0.5, 2), "tangent": 0.02},
                               "current": d.vector(speed)}}
    if d.odds(0.5):
        made["fluid"]["water"]["buoyancy"] = True
    return reorder(made)


def fluid_modes(d):
    """Added mass and buoyancy."""
    made = fluid_static(d)
    made["fluid"]["water"].update(added="auto")
    made["fluid"]["water"].pop("current")
    return with_modes(d, made)


def fluid_motion(d):
    rod = parts.draw_rod(d, heaviest=10)
    parts.damp(d, rod, (0.02, 0.1))
    made = single(d, "A rod swings in a fluid", [], rod, loads=parts.tip_loads(d, rod, strength=(0.03, 0.7)))
    made["robot"]["arm"].pop("body", None)
    water = {"on": "arm", "density": d.choose(1.2, 1000)}
    if d.odds(0.6):
        water["added"] = "auto"
    if d.odds(0.5):
        water["buoyancy"] = True
    water["drag"] = d.choose({"normal": d.number(0.5, 2), "tangent": 0.02}, {"square": rounded(500*rod.radius, 3)},
                             {"linear": rounded(rod.mass/rod.length/rod.period*d.scale(0.05, 1), 3)})
    made["fluid"] = {"water": water}
    made["study"] = [{"static": {}}, {"change": {name: "off" for name in made["loads"]}},
                     {"dynamic": parts.motion(d, 1.5*rod.period)}]
    return reorder(made)


# ---- long rods, solved without a matrix ----------------------------------------------------------

def long_rod(d, title, law=None):
    """A rod of more than 300 coordinates with local functions, in company that needs no matrix."""
    rod = parts.draw_rod(d, heaviest=10, shapes=[lambda _, r: {"circle": {"radius": r}}], rest=0)
    strain, count = d.choose(("kirchhoff linear", 103), ("kirchhoff constant", 104), ("kirchhoff spline 2", 103),
                                ("cosserat linear", 52), ("kirchhoff quadratic", 52),
                                ({"bend_y": "linear", "bend_z": "quadratic"}, 104))
    rod.rod.update(strain=strain, elements=count)
    made = single(d, title, [{"static": {}}], rod)
    made["robot"]["arm"]["pose"] = {"x": "x"}
    made["loads"] = parts.tip_loads(d, rod, strength=(0.03, 0.5))
    company = d.choose("cords", "cords", "loop", "none")  # more would need a matrix for so few coordinates
    if company == "cords":
        made["actuators"] = cords(d, rod, law)
    elif company == "loop":
        at = d.number(0.4, 0.9)
        place = [rounded(rod.length*at*d.number(0.93, 0.98)), rounded(rod.length*at*d.number(0.02, 0.1)), 0]
        made["loops"] = {"hold": {"join": ["world", f"arm@{rounded(100*at)}%"], "as": "spherical", "pose": {"xyz": place}}}
    if d.odds(0.3) and "cosserat" not in strain:
        made["fluid"] = {"water": {"on": "arm", "density": 1000, "added": "auto", "buoyancy": True,
                                   "drag": {"normal": d.number(0.5, 2), "tangent": 0.02}}}
    return rod, made


def long_static(d):
    return reorder(long_rod(d, "A long rod in equilibrium")[1])


def long_motion(d):
    rod, made = long_rod(d, "A long rod let go", "linear(t, 0, 1)")
    parts.damp(d, rod, (0.02, 0.1))
    step = rounded(rod.period/d.number(60, 200), 2)
    made["study"] = [{"static": {}}, {"change": {name: "off" for name in made["loads"]}}, {"dynamic": {"for": rounded(16*step, 10), "step": step}}]
    return reorder(made)


def events(d):
    """Loads, loops and bodies that are conditional while a rod moves."""
    rod = parts.draw_rod(d, heaviest=6, shapes=[lambda _, r: {"circle": {"radius": r}}])
    parts.damp(d, rod, (0.02, 0.1))
    step = parts.motion(d, rod.period, periods=(1, 2))
    first, second = rounded(step["for"]*d.number(0.15, 0.4), 3), rounded(step["for"]*d.number(0.5, 0.8), 3)
    made = single(d, "Loads become active and inactive", [{"static": {}}, {"dynamic": step}], rod)
    made["loads"] = {"kick": {"on": "arm.tip", "force": d.vector(rod.force*d.scale(0.05, 0.5)),
                              "when": f"t > {first} and t < {second}"}}
    kind = d.choose("loop", "body", "probe", "probe")
    if kind == "loop":
        made["loops"] = {"catch": {"join": ["world", "arm.tip"], "as": "spherical", "pose": "at_closing",
                                   "when": f"t > {first} and t < {second}"}}
    elif kind == "body":
        made["robot"]["egg"] = {"on": "arm.tip", "body": {"mass": rounded(rod.mass*d.scale(0.1, 1), 3)},
                                "when": f"t > {first} and t < {second}"}
    else:
        component = d.choose("vx", "vy", "vz")
        made["probes"]["v"] = {"velocity": "arm.tip"}
        made["loads"]["kick"]["when"] = f"t > {first} and not once(v.{component} > {rounded(rod.length/rod.period/5, 2)})"
    return reorder(made)


def passing(d):
    """A pendulum passes a threshold, often for less than a step, and is pushed from then on or until then."""
    length, mass, angle = d.scale(0.05, 2), d.scale(0.01, 10), d.number(0.3, 1.5)
    period = 2*math.pi*math.sqrt(length/parts.GRAVITY)
    reach, speed = length*math.sin(angle), math.sqrt(2*parts.GRAVITY*length*(1 - math.cos(angle)))
    short = d.scale(0.02, 0.2)
    low, far, fast = (rounded(x, 4) for x in (short*length, (1 - short)*reach, (1 - short)*speed))
    passes = d.choose(f"tip.x > {far}", f"v.vx > {fast}", f"abs(tip.x) < {low}", f"v.vx > {rounded(speed/2, 3)} and tip.x > {-low} "
                      f"and tip.x < {low}", f"e.kinetic > {rounded(0.5*mass*fast*fast, 4)}")
    push = {"on": "tip", "force": [rounded(mass*parts.GRAVITY*d.number(-1, 1), 3), 0, 0],
            "when": d.choose("once", "not once") + f"({passes})"}
    robot = {"bob": {"on": "world", "joint": "revolute", "axis": "y",
                     "body": {"mass": rounded(mass, 4), "com": [0, 0, rounded(-length, 4)], "sphere": {"radius": rounded(length/50, 3)}}},
             "tip": {"on": "bob", "pose": {"xyz": [0, 0, rounded(-length, 4)]}}}
    return model("A pendulum passes a threshold", robot, None,
                 [{"dynamic": parts.motion(d, period, periods=(1, 2), fine=(20, 60))}],
                 {"tip": {"position": "tip"}, "v": {"velocity": "tip"}, "e": "energy"},
                 loads={"push": push}, initial={"bob": rounded(angle, 4)})


FAMILIES = {
    "rod_static": (rod_static, STATICS),
    "rod_planar": (rod_planar, STATICS),
    "rod_modes": (rod_modes, ["alive", "basis", "nodes", "spaces", "moved"]),
    "steady_modes": (steady_modes, ["alive", "basis", "nodes"]),
    "rod_swing": (rod_swing, ["alive", "period"]),
    "rod_release": (rod_release, MOTION + ["nodes", "engines_motion"]),
    "rod_jump": (rod_jump, MOTION + ["nodes"]),
    "rod_flight": (rod_flight, MOTION),
    "tendon_static": (tendon_static, STATICS + ["inputs"]),
    "tendon_motion": (tendon_motion, MOTION + ["nodes", "engines_motion"]),
    "tree_static": (tree_static, ["alive", "path", "arc", "exists", "moved", "stable", "settles", "derivatives", "linear"]),
    "tree_motion": (tree_motion, MOTION),
    "hybrid_static": (hybrid_static, ["alive", "basis", "nodes", "spaces", "path", "arc", "exists", "moved", "stable", "derivatives", "linear"]),
    "hybrid_modes": (hybrid_modes, ["alive", "basis", "nodes", "moved"]),
    "hybrid_motion": (hybrid_motion, MOTION),
    "driven": (driven, MOTION),
    "loop_static": (loop_static, ["alive", "path", "arc", "exists", "moved", "stable", "closure", "derivatives"]),
    "loop_motion": (loop_motion, ["alive", "energy", "steps", "adapt", "free_step", "moved", "closure", "again", "derivatives"]),
    "parallel_static": (parallel_static, ["alive", "engines", "basis", "nodes", "path", "arc", "exists", "moved", "stable", "derivatives"]),
    "parallel_modes": (parallel_modes, ["alive", "basis", "nodes", "moved"]),
    "held_modes": (held_modes, ["alive", "basis", "nodes", "moved"]),
    "threaded_static": (threaded_static, ["alive", "basis", "nodes", "path", "exists", "moved", "stable", "derivatives"]),
    "threaded_modes": (threaded_modes, ["alive", "basis", "nodes", "moved"]),
    "threaded_motion": (threaded_motion, ["alive", "energy", "steps", "adapt", "moved", "again", "derivatives"]),
    "parallel_motion": (parallel_motion, ["alive", "energy", "steps", "adapt", "moved", "engines_motion", "again", "derivatives"]),
    "upright": (upright, ["alive", "path", "arc", "exists", "energy", "moved", "stable", "derivatives"]),
    "cranks": (cranks, ["alive", "energy", "steps", "adapt", "moved", "closure", "again", "derivatives"]),
    "drop": (drop, ["alive", "energy", "adapt", "again", "derivatives"]),
    "obstacle": (obstacle, ["alive", "energy", "again", "derivatives"]),
    "shapes": (shapes, ["alive", "energy", "again", "derivatives"]),
    "touching": (touching, ["alive", "energy", "again", "derivatives"]),
    "pressed": (pressed, ["alive", "energy", "nodes", "path", "arc", "exists", "stable", "derivatives", "linear"]),
    "sprung_static": (sprung_static, ["alive", "basis", "nodes", "spaces", "path", "arc", "exists", "moved", "stable", "derivatives", "linear"]),
    "sprung_motion": (sprung_motion, MOTION + ["nodes"]),
    "tubes_static": (tubes_static, ["alive", "basis", "path", "moved", "stable", "derivatives"]),
    "tubes_motion": (tubes_motion, ["alive", "energy", "steps", "adapt", "moved", "again", "derivatives"]),
    "fluid_static": (fluid_static, ["alive", "basis", "nodes", "spaces", "moved", "stable", "settles", "derivatives", "linear"]),
    "fluid_modes": (fluid_modes, ["alive", "basis", "nodes", "moved"]),
    "fluid_motion": (fluid_motion, MOTION + ["nodes"]),
    "long_static": (long_static, ["alive", "matrix"]),
    "long_motion": (long_motion, ["alive", "matrix"]),
    "events": (events, ["alive", "energy", "steps", "adapt", "free_step", "moved", "again", "derivatives"]),
    "passing": (passing, ["alive", "adapt", "free_step", "again", "derivatives"]),
}


def draw(family, seed):
    """The model of this family and seed, and the names of its comparisons."""
    make, comparisons = FAMILIES[family]
    made = make(Chance(family, seed))
    made["title"] += f" ({family}:{seed})"
    duration = sum(step["dynamic"]["for"] for step in made["study"] if "dynamic" in step)
    if duration:
        made.setdefault("record", {"every": rounded(duration/16, 12)})
        made["probes"]["e"] = "energy"
    return made, comparisons
