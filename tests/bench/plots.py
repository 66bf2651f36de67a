"""The plot report.py draws: what was delivered, how it grows with readers, how well it hides."""

from matplotlib import pyplot

from report import ON_THE_GPU, PLACEMENTS, SHAPES

BLUES = {"stream": "#0b4f8a", "gather": "#2f83c4", "cached": "#74b3e0", "resident": "#b3d7f2"}
GREYS = ["#4d4d4d", "#6e6e6e", "#8e8e8e", "#adadad", "#c6c6c6", "#dedede"]
TAN = "#d9b877"  # the one peer that keeps its rows on the GPU
LINES = ["#0b4f8a", "#c4572f", "#3f8f4f", "#8a5fb0", "#999999"]


def deliveries(axes, results, shapes):
    """Bars in groups, a group a shape: feedline's best of each placement, then the peers, each
    always at the same position."""
    peers = sorted({row["peer"] for shape in shapes for row in results.peers(shape)},
                   key=lambda peer: (peer == ON_THE_GPU, peer))
    feeds = [name for name in PLACEMENTS
             if any(row["placement"] == name for s in shapes for row in results.feeds(s))]
    width = 0.86 / max(len(feeds) + len(peers), 1)
    labels = [*(f"feedline {name}" for name in feeds), *peers]
    colours = [*(BLUES[name] for name in feeds),
               *(TAN if peer == ON_THE_GPU else GREYS[i % len(GREYS)]
                 for i, peer in enumerate(peers))]
    for place, (label, colour) in enumerate(zip(labels, colours)):
        heights = []
        for shape in shapes:
            rows = ([row for row in results.feeds(shape) if f"feedline {row['placement']}" == label]
                    or [row for row in results.peers(shape) if row["peer"] == label])
            heights.append(max((row["bytes_per_second"] / 1e9 for row in rows), default=0))
        at = [group - 0.43 + (place + 0.5) * width for group in range(len(shapes))]
        axes.bar(at, heights, width, label=label, color=colour, edgecolor="white", linewidth=0.4)
        for x, height in zip(at, heights):
            if height > 0:
                axes.text(x, height * 1.1, f"{height:.3g}" if height < 1000 else f"{height:.0f}",
                          ha="center", va="bottom", fontsize=6.5, rotation=90,
                          bbox={"color": "white", "pad": 0.3})
    bus = results.bus()
    if bus:
        axes.axhline(bus / 1e9, color="#c4572f", linewidth=1, linestyle="--",
                     label=f"pinned copies, {bus / 1e9:.1f} GB/s")
    axes.set_yscale("log")
    axes.set_ylim(top=axes.get_ylim()[1] * 4)
    axes.set_xticks(range(len(shapes)), [SHAPES[shape].replace(", ", "\n") for shape in shapes])
    axes.set_ylabel("delivered on the GPU, GB/s (log scale)")
    axes.set_title("Delivery to an empty consumer, best setting of each", fontsize=10)
    axes.legend(fontsize=7.5, ncols=1, loc="center left", bbox_to_anchor=(1.005, 0.5),
                frameon=False)


def scaling(axes, results, shapes):
    bus = results.bus()
    for shape, colour in zip(shapes, LINES):
        rows = sorted(results.rows("delivery", shape=shape, placement="stream"),
                      key=lambda row: row["readers"])
        rows = [row for row in rows if row["readers"] > 0]
        if rows and bus:
            axes.plot([row["readers"] for row in rows],
                      [100 * row["bytes_per_second"] / bus for row in rows],
                      marker="o", markersize=4, color=colour, label=SHAPES[shape])
    axes.axhline(100, color="#c4572f", linewidth=1, linestyle="--")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("reader threads")
    axes.set_ylabel("share of plain pinned copies, %")
    axes.set_title("Stream placement by readers", fontsize=10)
    axes.legend(fontsize=7.5)


def stalls(axes, results, shapes):
    for shape, colour in zip(shapes, LINES):
        rows = sorted(results.rows("stall", shape=shape), key=lambda row: row["asked"])
        if rows:
            axes.plot([row["asked"] for row in rows], [row["stall_ratio"] for row in rows],
                      marker="o", markersize=4, color=colour, label=SHAPES[shape])
    axes.axhline(1, color="#c4572f", linewidth=1, linestyle="--")
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=min(0.95, axes.get_ylim()[0]))
    axes.set_xticks([0.25, 0.5, 1, 2, 4], ["¼", "½", "1", "2", "4"])
    axes.set_xlabel("compute over transfer time of a batch")
    axes.set_ylabel("loop time over max(compute, feeding)")
    axes.set_title("A training loop beside it", fontsize=10)
    axes.legend(fontsize=7.5)


def figure(results):
    made = pyplot.figure(figsize=(12, 9), layout="constrained")
    upper, lower = made.subfigures(2, 1, height_ratios=[1.15, 1])
    shapes = results.shapes()
    deliveries(upper.subplots(), results, shapes)
    left, right = lower.subplots(1, 2)
    scaling(left, results, shapes)
    stalls(right, results, shapes)
    for axes in (*upper.axes, left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
        axes.set_axisbelow(True)
    document = results.document
    made.suptitle("feedline on " + results.machine() + "\n" + ", ".join(
        f"{name} {document[name]}" for name in ("date", "commit") if document.get(name)),
        fontsize=9.5)
    return made
