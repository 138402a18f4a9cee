# A page and, where matplotlib is installed, a video of a soft pendulum: MP4 by ffmpeg, or else an animated GIF.
import shutil

import sinew
from sinew.gym import MODELS

result = sinew.run(MODELS / "pendulum.yaml", set={"initial": "{arm: {position: 2.5}}"})
run = result.only()
print(run)
run.view("pendulum.html")
print("pendulum.html: open it in a browser")

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.animation
    import matplotlib.pyplot as plt
except ImportError:
    matplotlib = None
if matplotlib is None:
    print("matplotlib draws the frames of a video (Debian: python3-matplotlib; ffmpeg for MP4)")
else:
    shapes = run.positions("arm")
    figure, ax = plt.subplots(figsize=(4, 4), layout="constrained")
    (line,) = ax.plot([], [], lw=6, solid_capstyle="round")
    ax.set(xlim=(-0.35, 0.35), ylim=(-0.35, 0.35), aspect="equal", xlabel="x [m]", ylabel="z [m]")
    movie = matplotlib.animation.FuncAnimation(
        figure, lambda k: line.set_data(shapes[k, :, 0], shapes[k, :, 2]), frames=range(0, len(shapes), 8))
    name, writer = ("pendulum.mp4", "ffmpeg") if shutil.which("ffmpeg") else ("pendulum.gif", "pillow")
    movie.save(name, writer=writer, fps=25)
    print(name)
