"""The run viewer in a real browser: it loads, draws, zooms, plays, pauses and compares; with times for a long run."""

import json
import os
import re
import statistics
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from conftest import ROOT, Command, needs_browser

# A machine without a browser can still test the rest. `.ci/setup tests` installs one, so continuous
# integration never skips.
pytestmark = needs_browser

Viewer = Callable[..., str]

PANELS = ["topology", "sequence", "rates", "windows", "rtt", "queues", "buffer", "held", "drops"]

# Resolves once the page has drawn the answer to its last question, to the times it took.
SETTLED = """
const { timings } = window.prismux;
return new Promise((resolve, reject) => {
  const limit = performance.now() + 20000;
  const look = () => {
    if (timings.first !== null && timings.asked === null) resolve(timings);
    else if (performance.now() > limit) reject(new Error("the page does not settle"));
    else requestAnimationFrame(look);
  };
  look();
});
"""

# Of each panel of each run: how many different colours its canvas shows.
COLOURS = """
return [...document.querySelectorAll(".run")].map((run) => Object.fromEntries(
  [...run.querySelectorAll(".panel")].filter((panel) => !panel.hidden).map((panel) => {
    const canvas = panel.querySelector(":scope > canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Set();
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] > 0) colours.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2]);
    }
    return [panel.dataset.panel, colours.size];
  }),
));
"""


NEXT_FRAME = "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));"


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory, prismux_command: Command) -> dict[str, Path]:
    """Records of two short runs and of one with a million events."""
    folder = tmp_path_factory.mktemp("records")
    for name, arguments in {
        "first": ["demo-2005"],
        "second": ["demo-2005", "--seed", "2"],
        "long": ["demo-today"],
        "air": ["adhoc-tcp", "--set", "duration=30s"],
        "relays": ["cells-relays", "--set", "duration=40s"],
    }.items():
        done = prismux_command("run", *arguments, "--record", str(folder / name))
        assert done.returncode == 0, done.stderr
    return {name: folder / name for name in ("first", "second", "long", "air", "relays")}


@pytest.fixture
def viewer() -> Iterator[Viewer]:
    """Serves records; answers the address of their page."""
    program = Path(os.environ.get("PRISMUX", ROOT / "target/debug/prismux"))
    servers: list[subprocess.Popen[str]] = []

    def serve(*folders: Path) -> str:
        command = [str(program), "view", *map(str, folders), "--no-open"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        servers.append(server)
        assert server.stdout is not None
        return server.stdout.readline().split()[0]

    yield serve
    for server in servers:
        server.terminate()
        server.communicate()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


def settled(browser: Browser) -> dict[str, Any]:
    timings: dict[str, Any] = browser.run(SETTLED)
    return timings


def view(browser: Browser) -> tuple[float, float]:
    start, end = browser.run("const { view } = window.prismux; return [view.from, view.to];")
    return start, end


def middle_of(browser: Browser, panel: str, part: float = 0.5) -> tuple[int, int]:
    x, y, width, height = browser.run(
        f"const box = document.querySelector('[data-panel={panel}] > canvas').getBoundingClientRect();"
        "return [box.x, box.y, box.width, box.height];"
    )
    return round(x + width * part), round(y + height / 2)


def remark(browser: Browser, panel: str = "topology") -> str:
    text: str = browser.run(f"return document.querySelector('[data-panel={panel}] h2').textContent;")
    return text


def test_the_page_loads_and_every_panel_draws(records: dict[str, Path], viewer: Viewer, browser: Browser) -> None:
    browser.open(viewer(records["first"]))
    settled(browser)
    [run] = browser.run(COLOURS)
    assert sorted(run) == sorted(PANELS)
    # Axes alone have no more than the shades of grey of their letters: nothing is blank.
    assert all(count > 5 for count in run.values()), run
    assert browser.run("return document.querySelector('h1').textContent;").startswith("demo-2005")
    assert browser.complaints() == []


def test_wheel_drag_and_keys_zoom(records: dict[str, Path], viewer: Viewer, browser: Browser) -> None:
    browser.open(viewer(records["first"]))
    settled(browser)
    whole = view(browser)
    browser.wheel(*middle_of(browser, "sequence"), -600)
    settled(browser)
    wheel = view(browser)
    assert whole[0] < wheel[0] < wheel[1] < whole[1]
    browser.drag(middle_of(browser, "rates", 0.4), middle_of(browser, "rates", 0.6))
    settled(browser)
    drag = view(browser)
    assert wheel[0] < drag[0] < drag[1] < wheel[1]
    browser.press("0")
    settled(browser)
    assert view(browser) == whole
    browser.press("+")
    settled(browser)
    assert view(browser)[1] - view(browser)[0] == pytest.approx((whole[1] - whole[0]) / 2)
    assert browser.complaints() == []


def test_a_pointer_over_a_panel_tells_what_is_there(records: dict[str, Path], viewer: Viewer, browser: Browser) -> None:
    browser.open(viewer(records["first"]))
    settled(browser)
    browser.point(*middle_of(browser, "rates"))
    note = browser.run("const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.textContent;")
    assert "wwan1" in note and "bit/s" in note and "capacity" in note
    assert " s" in remark(browser) and "load at" in remark(browser)


def test_a_run_plays_and_pauses(records: dict[str, Path], viewer: Viewer, browser: Browser) -> None:
    browser.open(viewer(records["first"]))
    settled(browser)
    wait = "return new Promise((done) => setTimeout(done, 300));"
    browser.press(" ")
    browser.run(wait)
    first = remark(browser)
    browser.run(wait)
    second = remark(browser)
    assert "load at" in first and first != second, "the cursor moves"
    browser.press(" ")
    browser.run(wait)
    paused = remark(browser)
    browser.run(wait)
    assert "load at" in paused and remark(browser) == paused, "the cursor stands"


def test_hosts_move_on_the_air_and_stand_where_the_record_says(
    records: dict[str, Path], viewer: Viewer, browser: Browser
) -> None:
    browser.open(viewer(records["air"]))
    settled(browser)
    [run] = browser.run(COLOURS)
    of_flow = ["buffer", "flows", "rtt", "sequence", "windows"]
    expected = sorted(["air", "traffic", "waiting", *of_flow])
    assert sorted(run) == expected, "a network without links has no panels of links"
    assert all(count > 5 for count in run.values()), run
    picture = "return document.querySelector('[data-panel=air] > canvas').toDataURL();"
    browser.point(*middle_of(browser, "traffic", 0.3))
    browser.run(NEXT_FRAME)
    before, earlier = browser.run(picture), remark(browser, "air")
    browser.point(*middle_of(browser, "traffic", 0.7))
    browser.run(NEXT_FRAME)
    after, later = browser.run(picture), remark(browser, "air")
    assert before != after and earlier != later, "scrubbing moves the hosts"
    # A host's tip, where the map draws it, tells the place that the record has for that instant.
    log = (records["air"] / "events.jsonl").read_text().splitlines()
    moves = [json.loads(line) for line in log if '"host_moved"' in line]
    shown = re.search(r"at ([0-9.]+) s", later)
    assert shown, later
    time_ns = float(shown[1]) * 1e9
    places = {move["node"]: (move["x_m"], move["y_m"]) for move in moves if move["time_ns"] <= time_ns}
    host = find_a_host(browser)
    place = re.search(r"place([-0-9]+) m east, ([-0-9]+) m north", host)
    name = re.match(r"h-\d+?(?=place)", host)
    assert place and name, host
    assert [float(place[1]), float(place[2])] == pytest.approx(places[name[0]], abs=4), "at most 10 m/s for 0.25 s"
    browser.press(" ")
    browser.run("return new Promise((done) => setTimeout(done, 300));")
    assert remark(browser, "air") != later, "the run plays"
    browser.press(" ")
    assert browser.complaints() == []


def test_what_a_flow_brought_over_the_air_is_what_its_application_has(
    tmp_path: Path, prismux_command: Command, viewer: Viewer, browser: Browser
) -> None:
    # Two flows over nothing but the air, one of them over a relay; and one over wires and then the air.
    for scenario, flows in {"wlan-relay": ["from-station", "from-far"], "cells-street": ["download"]}.items():
        folder = tmp_path / scenario
        said = prismux_command("run", scenario, "--set", "duration=10s", "--record", str(folder), "--json")
        assert said.returncode == 0, said.stderr
        result = json.loads(said.stdout)["flows"]
        browser.open(viewer(folder))
        settled(browser)
        shown = browser.run("return window.prismux.columns[0].summary.flows.map((flow) => flow.arrived_bytes);")
        assert shown == [result[flow]["bytes"] for flow in flows], scenario
        facts = browser.run("return document.querySelector('.facts').textContent;")
        assert re.search(r"arrived in order [0-9.]+ MB, [0-9.]+ Mbit/s", facts), facts


def test_names_on_the_map_do_not_cover_one_another(records: dict[str, Path], viewer: Viewer, browser: Browser) -> None:
    browser.open(viewer(records["air"]))
    settled(browser)
    # Draws the map once more, and notes where names are written.
    boxes = browser.run("""
        const { canvas, content } = window.prismux.columns[0].panels.find(({ content }) => content.name === "air");
        const [ctx, written] = [canvas.getContext("2d"), []];
        ctx.fillText = (text, x, y) => {
          const { width } = ctx.measureText(text);
          if (text.startsWith("h-")) written.push([x - width / 2, y, width]);
        };
        content.draw(ctx, canvas.clientWidth, { answer: content.answer, view: content.view, cursor: null });
        return written;
    """)
    assert len(boxes) == 20
    covered = [
        (one, other)
        for at, one in enumerate(boxes)
        for other in boxes[at + 1 :]
        if abs(one[1] - other[1]) < 10 and one[0] < other[0] + other[2] and other[0] < one[0] + one[2]
    ]
    assert covered == []


def test_stations_show_whom_they_belong_to_and_what_they_draw(
    records: dict[str, Path], viewer: Viewer, browser: Browser
) -> None:
    browser.open(viewer(records["relays"]))
    settled(browser)
    [run] = browser.run(COLOURS)
    assert {"air", "energy", "rates", "topology", "traffic", "waiting"} <= set(run), run
    legend = "return document.querySelector('[data-panel=%s] .legend').textContent;"
    assert "belongs to, goes over" in browser.run(legend % "air")
    assert browser.run(legend % "energy").startswith(("near", "middle")), "who relays draws most"
    # The passenger leaves the cell after some 15 s, and goes over a host that hears it.
    log = [json.loads(line) for line in (records["relays"] / "events.jsonl").read_text().splitlines()]
    [over] = [event["to"] for event in log if event["event"] == "gateway_changed" and event["node"] == "passenger"]
    attachment = (
        "const map = window.prismux.columns[0].panels.find(({ content }) => content.name === 'air').content;"
        "const nodes = map.run.run.nodes; const at = nodes.findIndex(({ name }) => name === 'passenger');"
        "const { cell, gateway } = map.now.get(at);"
        "return [cell, gateway].map((node) => (node === null ? null : nodes[node].name));"
    )
    seen = []
    for part in (0.1, 0.9):
        browser.point(*middle_of(browser, "air", 0.99))
        browser.run("window.scrollTo(0, 900);")
        browser.point(*middle_of(browser, "traffic", part))
        browser.run(NEXT_FRAME)
        seen.append(browser.run(attachment))
    assert seen == [["base", None], [None, over]]
    assert browser.complaints() == []


def find_a_host(browser: Browser) -> str:
    """What the tip says of the first host under a grid of places on the map."""
    x, y, width, height = browser.run(
        "const box = document.querySelector('[data-panel=air] > canvas').getBoundingClientRect();"
        "return [box.x, box.y, box.width, box.height];"
    )
    for down in range(10, int(height), 22):
        for right in range(int(width) // 4, int(width) * 3 // 4, 22):
            browser.point(round(x + right), round(y + down))
            text: str = browser.run(
                "const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.textContent;"
            )
            if text:
                return text
    return ""


# Where the map draws a hop at the instant that it shows, in the window.
HOP = """
const { panels } = window.prismux.columns[0];
const { canvas, content } = panels.find(({ content }) => content.name === "air");
const box = canvas.getBoundingClientRect();
const [[x0, y0], [x1, y1]] = ["FROM", "TO"].map((name) => {
  const node = content.run.run.nodes.findIndex((one) => one.name === name);
  return content.pixel(content.places.get(node));
});
const length = Math.hypot(x1 - x0, y1 - y0);
return [
  Math.round(box.x + (x0 + x1) / 2 - (y1 - y0) / length * 3),
  Math.round(box.y + (y0 + y1) / 2 + (x1 - x0) / length * 3),
];
"""
FOLLOWED = """
return new Promise((resolve) => {
  const limit = performance.now() + 5000;
  const look = () => {
    const way = document.querySelector(".way");
    const isThere = !way.hidden && (WANTED === null || way.querySelector("b").textContent === WANTED);
    if (!isThere && performance.now() < limit) return requestAnimationFrame(look);
    const rows = [...way.querySelectorAll(".step")].map((row) => row.lastChild.textContent);
    resolve([way.querySelector("b")?.textContent, way.querySelector("p")?.textContent, rows]);
  };
  look();
});
"""


def lost_and_arrived(record: Path) -> tuple[int, list[dict[str, Any]]]:
    """A packet that went over two hops or more, was lost on one of them, and arrived: its number and its events."""
    ways: dict[int, list[dict[str, Any]]] = {}
    for line in (record / "events.jsonl").read_text().splitlines():
        event = json.loads(line)
        number = event.get("number") or (event.get("packet") or {}).get("number")
        if number:
            ways.setdefault(number, []).append(event)
    for number, way in ways.items():
        kinds = [event["event"] for event in way]
        hops = {(event["from"], event["to"]) for event in way if event["event"] == "frame_sent"}
        if {"frame_lost", "packet_arrived"} <= set(kinds) and len(hops) > 1 and "packet_dropped" not in kinds:
            return number, way
    raise AssertionError("no packet of the record was lost on the way and arrived")


@pytest.mark.parametrize("exported", [False, True])
def test_a_packet_is_followed_from_hop_to_hop(
    records: dict[str, Path],
    viewer: Viewer,
    prismux_command: Command,
    browser: Browser,
    tmp_path: Path,
    exported: bool,
) -> None:
    number, way = lost_and_arrived(records["air"])
    frames = [event for event in way if event["event"] == "frame_sent" and event["kind"] == "data"]
    lost = sum(event["event"] == "frame_lost" for event in way)
    if exported:
        done = prismux_command("view", str(records["air"]), "--export", str(tmp_path))
        assert done.returncode == 0, done.stderr
    browser.open((tmp_path / "index.html").as_uri() if exported else viewer(records["air"]))
    settled(browser)
    first, last = way[0]["time_ns"], way[-1]["time_ns"]
    browser.run(f"window.prismux.view.set({first - 1e6}, {last + 1e6});")
    settled(browser)
    # The map shows the instant of the last frame, and stays there while the pointer is on it.
    hop = frames[-1]
    x = browser.run(
        "const { canvas, content } = window.prismux.columns[0].panels.find((p) => p.content.name === 'traffic');"
        f"return canvas.getBoundingClientRect().x + content.plot.x({hop['time_ns']});"
    )
    browser.point(round(x), middle_of(browser, "traffic")[1])
    browser.run(NEXT_FRAME)
    arrow = tuple(browser.run(HOP.replace("FROM", hop["from"]).replace("TO", hop["to"])))
    browser.drag(arrow, arrow)
    title, words, rows = browser.run(FOLLOWED.replace("WANTED", "null"))
    assert title == f"Packet {number:,}"
    assert "arrived after" in words and f"{lost} lost" in words
    told = [row for row in rows if "→" in row and not row.startswith("RTS ")]
    hops = [re.match(r"(\S+) → ([^\s:,]+)", row) for row in told]
    assert [hop and hop.groups() for hop in hops] == [(event["from"], event["to"]) for event in frames]
    assert sum(": lost, " in row for row in rows) == lost
    assert rows[0].startswith(f"sets out at {way[0]['node']}") and rows[-1] == f"arrives at {way[-1]['node']}"
    # A click on a row moves map and cursor to its instant.
    before = browser.run("return document.querySelector('[data-panel=air] > canvas').toDataURL();")
    browser.run("document.querySelector('.way .step').click();")
    browser.run(NEXT_FRAME)
    assert f"at {first / 1e9:.4f}"[:8] in remark(browser, "air")
    assert browser.run("return document.querySelector('[data-panel=air] > canvas').toDataURL();") != before
    assert browser.run("return document.querySelector('.way .now').textContent;").startswith(f"{first / 1e9:.6f} s")
    # The next packet of the flow, and an end of it.
    browser.run("document.querySelector('.way header button:nth-of-type(2)').click();")
    flow = way[0]["packet"]["flow"]
    log = [json.loads(line) for line in (records["air"] / "events.jsonl").read_text().splitlines()]
    origins = [event["packet"] for event in log if event["event"] == "packet_originated"]
    after = next(packet["number"] for packet in origins if packet["flow"] == flow and packet["number"] > number)
    assert browser.run(FOLLOWED.replace("WANTED", f"'Packet {after:,}'"))[0] == f"Packet {after:,}"
    browser.press("p")
    browser.run(NEXT_FRAME)
    assert browser.run("return document.querySelector('.way').hidden;")
    assert browser.complaints() == []


def test_two_runs_stand_side_by_side_under_one_view(records: dict[str, Path], viewer: Viewer, browser: Browser) -> None:
    browser.open(viewer(records["first"], records["second"]))
    settled(browser)
    runs = browser.run(COLOURS)
    assert len(runs) == 2 and all(count > 5 for run in runs for count in run.values()), runs
    pictures = (
        "return [...document.querySelectorAll('[data-panel=sequence] > canvas')].map((canvas) => canvas.toDataURL());"
    )
    before = browser.run(pictures)
    assert before[0] != before[1], "two seeds, two runs"
    browser.wheel(*middle_of(browser, "sequence"), -600)
    settled(browser)
    after = browser.run(pictures)
    assert before[0] != after[0] and before[1] != after[1], "both zoom"
    assert browser.complaints() == []


LEGEND = "return [...document.querySelectorAll('[data-panel={}] .legend button')].map((entry) => entry.textContent);"

# A host that changes its link, and a datagram flow beside it.
MOVING = """
duration = "6 s"
[nodes]
server = { kind = "host" }
router = { kind = "router" }
mobile = { kind = "host" }
[links]
access = { between = ["server", "router"], rate = "100 Mbit/s", delay = "5 ms" }
wlan = { between = ["router", "mobile"], rate = "8 Mbit/s", delay = "3 ms", queue = "50 packets" }
cell = { between = ["router", "mobile"], rate = "2 Mbit/s", delay = "25 ms", queue = "50 packets" }
[flows]
download = { from = "server", to = "mobile" }
voice = { from = "server", to = "mobile", transport = "udp", rate = "64 kbit/s" }
[[events]]
at = "3 s"
handoff = "mobile"
to = "cell"
"""


def test_a_network_of_ones_own_shows_the_ways_that_a_flow_used(
    prismux_command: Command, viewer: Viewer, browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "moving.toml").write_text(MOVING)
    done = prismux_command("run", str(tmp_path / "moving.toml"), "--record", str(tmp_path / "record"))
    assert done.returncode == 0, done.stderr
    browser.open(viewer(tmp_path / "record"))
    settled(browser)
    entries = browser.run(LEGEND.format("sequence"))
    assert {"wlan", "cell"} < set(entries) and "access" not in entries
    assert "ACK held" not in entries, "there is no proxy"
    assert browser.run(LEGEND.format("flows")) == ["download", "voice"]
    assert set(browser.run(LEGEND.format("queues"))) >= {"wlan", "cell"}
    [run] = browser.run(COLOURS)
    assert {"flows", "queues", "drops"} <= set(run) and all(count > 5 for count in run.values()), run
    picture = "return document.querySelector('[data-panel=rates] > canvas').toDataURL();"
    toward_receiver = browser.run(picture)
    browser.press("r")
    browser.run(NEXT_FRAME)
    assert "toward the sender" in remark(browser, "rates") and browser.run(picture) != toward_receiver
    browser.run("const f = document.getElementById('flow'); f.value = '1'; f.dispatchEvent(new Event('change'));")
    settled(browser)
    browser.run(NEXT_FRAME)
    voice = browser.run(
        "return [...document.querySelectorAll('.panel')].filter((panel) => !panel.hidden)"
        ".map((panel) => panel.dataset.panel);"
    )
    assert not {"sequence", "windows", "rtt", "buffer"} & set(voice), "datagrams have no segments"
    assert browser.complaints() == []


def test_twenty_hosts_beside_each_other_neither_overlap_nor_leave_the_picture(
    prismux_command: Command, viewer: Viewer, browser: Browser, tmp_path: Path
) -> None:
    wide = 'rate = "100 Mbit/s", delay = "5 ms"'
    hosts, links, flows = [], ['line = { between = ["left", "right"], rate = "20 Mbit/s", delay = "10 ms" }'], []
    for k in range(20):
        hosts += [f's{k} = {{ kind = "host" }}', f'd{k} = {{ kind = "host" }}']
        links += [
            f'a{k} = {{ between = ["s{k}", "left"], {wide} }}',
            f'b{k} = {{ between = ["right", "d{k}"], {wide} }}',
        ]
        flows.append(f'f{k} = {{ from = "s{k}", to = "d{k}" }}')
    routers = ['left = { kind = "router" }', 'right = { kind = "router" }']
    parts = ['duration = "1 s"', "[nodes]", *routers, *hosts, "[links]", *links, "[flows]", *flows]
    (tmp_path / "wide.toml").write_text("\n".join(parts))
    done = prismux_command("run", str(tmp_path / "wide.toml"), "--record", str(tmp_path / "record"))
    assert done.returncode == 0, done.stderr
    browser.open(viewer(tmp_path / "record"))
    settled(browser)
    height, node, nodes, labels = browser.run(
        "const { content } = window.prismux.columns[0].panels[0];"
        "return [content.height, content.node, [...content.places.values()], content.labels.places];"
    )
    boxes = [(x, y, node["width"], node["height"]) for x, y in nodes]
    boxes += [(label["x"], label["y"], label["w"], label["h"]) for label in labels if label]
    assert len(boxes) > 42 + 20, "most links have their label"
    for k, (x, y, w, h) in enumerate(boxes):
        assert y - h / 2 >= 0 and y + h / 2 <= height
        for other_x, other_y, other_w, other_h in boxes[:k]:
            assert abs(x - other_x) * 2 >= w + other_w or abs(y - other_y) * 2 >= h + other_h
    assert browser.run(LEGEND.format("rates")) == ["line", "capacity"]
    assert "the 16 busiest of 20" in remark(browser, "flows")


def test_lines_end_with_their_run_and_may_have_scales_of_their_own(
    records: dict[str, Path], prismux_command: Command, viewer: Viewer, browser: Browser, tmp_path: Path
) -> None:
    short = tmp_path / "short"
    done = prismux_command("run", "demo-2005", "--set", "duration=10s", "--record", str(short))
    assert done.returncode == 0, done.stderr
    browser.open(viewer(short, records["first"]))
    settled(browser)
    after = browser.run(
        "const { answer, summary } = window.prismux.columns[0];"
        "const late = (values) => values.filter((value, k) =>"
        " value !== null && answer.from + k * (answer.to - answer.from) / values.length > summary.end_ns).length;"
        "const piece = answer.rates[0];"
        "return [late(answer.windows.cwnd.last), late(answer.sequence.acknowledged.last),"
        " piece.start + (piece.forward[0].length - 1) * piece.width > summary.end_ns];"
    )
    assert after == [0, 0, False], "nothing is told of the time after the end"
    pictures = "return [...document.querySelectorAll('[data-panel=sequence] > canvas')].map((c) => c.toDataURL());"
    joined = browser.run(pictures)
    browser.press("o")
    browser.run(NEXT_FRAME)
    own = browser.run(pictures)
    assert joined != own, "each run fills its own scale"
    assert browser.complaints() == []


def test_an_exported_page_opens_from_a_file(
    records: dict[str, Path], prismux_command: Command, browser: Browser, tmp_path: Path
) -> None:
    done = prismux_command("view", str(records["first"]), "--export", str(tmp_path))
    assert done.returncode == 0, done.stderr
    browser.open((tmp_path / "index.html").as_uri())
    settled(browser)
    [run] = browser.run(COLOURS)
    assert all(count > 5 for count in run.values()), run
    whole = view(browser)
    browser.wheel(*middle_of(browser, "sequence"), -600)
    settled(browser)
    assert view(browser)[1] - view(browser)[0] < whole[1] - whole[0]
    assert browser.complaints() == []


def test_times_with_a_million_events(
    records: dict[str, Path], viewer: Viewer, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    browser.open(viewer(records["long"]))
    first = settled(browser)["first"]
    events = browser.run("return JSON.parse(document.getElementById('data').textContent).runs[0].events;")
    assert events > 1_000_000
    place = middle_of(browser, "sequence")
    for turn in [-300] * 8 + [300] * 4:
        browser.wheel(*place, turn)
        settled(browser)
    zooms = settled(browser)["zooms"]
    assert len(zooms) >= 12
    [run] = browser.run(COLOURS)
    assert all(count > 5 for count in run.values()), run
    with capsys.disabled():
        print(
            f"\nviewer, {events:,} events: first picture {first:.0f} ms, "
            f"zoom {statistics.median(zooms):.0f} ms (median), {max(zooms):.0f} ms (longest)"
        )
