# SPDX-License-Identifier: MIT
"""Strain functions from results, from Python, against values of the specification."""
import pytest

import sinew

# a muscle bends a rod with the stiffness 1 - x/2 by exp(-t x/2)
TEXT = """\
sinew: 1
gravity: 0
robot:
  arm:
    on: world
    rod:
      length: 1 m
      section: {stiffness: {bend_z: "(1 - x/L/2)*1 N*m^2"}}
      strain: {bend_z: legendre 14}
actuators:
  muscle: {stress: {along: arm, bend_z: "-1 N*m*(1 - x/L/2)*exp(-t/(2 s)*x/L)"}}
study: [static: {for: 10 s, step: 1 s}]
probes: {tip: {position: arm.tip}}
"""


def test_functions_of_a_run(tmp_path):
    model = tmp_path / "m.yaml"
    model.write_text(TEXT)
    sinew.run(model, tmp_path / "m.h5")
    found = sinew.reduce(tmp_path / "m.h5", functions=3, test=tmp_path / "m.h5", simulate=True, output=tmp_path / "modes.csv")
    assert (found.functions, found.parent, found.snapshots) == (3, 14, 11)
    assert 1 - found.energy == pytest.approx(2.093713e-5, rel=1e-5)
    assert found.strains[0].sigma[:3] == pytest.approx([1.633402885, 0.4537593687, 0.07184829126], rel=1e-7)
    assert found.tests[0].projection["max"] < 0.02 and found.tests[0].tip["max"] < 0.01
    reduced = sinew.Robot(model, set={"arm.rod.strain": found.strain["arm"]})
    assert reduced.nq == 3
    assert sinew.reduce([tmp_path / "m.h5"], energy=0.9).functions == 1
    with pytest.raises(sinew.ArgumentError, match="no such rod"):
        sinew.reduce(tmp_path / "m.h5", rods=["leg"])


def test_strains_together(tmp_path):
    # bend_y is half of bend_z: the singular values of both are sqrt(1 + 1/4) of those of one
    text = TEXT.replace('{bend_z: "(1', '{bend_y: "(1 - x/L/2)*1 N*m^2", bend_z: "(1').replace("strain: {", "strain: {bend_y: legendre 14, ")
    text = text.replace("along: arm, ", 'along: arm, bend_y: "-0.5 N*m*(1 - x/L/2)*exp(-t/(2 s)*x/L)", ')
    model = tmp_path / "m.yaml"
    model.write_text(text)
    sinew.run(model, tmp_path / "m.h5")
    found = sinew.reduce(tmp_path / "m.h5", functions=3, together=True, output=tmp_path / "modes.csv")
    assert found.strains[0].sigma[:3] == pytest.approx([1.25**0.5 * s for s in (1.633402885, 0.4537593687, 0.07184829126)], rel=1e-7)
    reduced = sinew.Robot(model, set={"arm.rod.strain": found.strain["arm"], "arm.rod.together": found.together["arm"]})
    assert reduced.nq == 3
