//! Mobility models and movement files.
mod common;

use common::{air, secs};
use prismux_units::{Duration, Instant};
use prismux_wireless::{
    Area, HostId, MacConfig, Mobility, Position, RadioConfig, RandomWaypoint, WaypointStart, parse_csv,
    parse_ns2,
};

const MOVEMENTS: &str = r#"
# nodes: 2, max x: 1000.00
$node_(0) set X_ 100.0
$node_(0) set Y_ 0.0
$node_(0) set Z_ 0.0
$node_(1) set X_ 0.0
$node_(1) set Y_ 50.0
$god_ set-dist 0 1 1
$ns_ at 10.0 "$node_(0) setdest 200.0 0.0 10.0"
$ns_ at 15.0 "$node_(0) setdest 150.0 100.0 5.0"
$ns_ at 12.5 "$god_ set-dist 0 1 2"
"#;

fn places(mobility: Vec<Mobility>, host: u32, times: &[u64]) -> Vec<(f64, f64)> {
    let mut air = air(RadioConfig::wavelan(), MacConfig::ns2(), mobility, 1);
    let round = |value: f64| (value * 1000.0).round() / 1000.0;
    let mut place = |at: &u64| {
        let Position { x_m, y_m } = air.position(secs(*at), HostId(host));
        (round(x_m), round(y_m))
    };
    times.iter().map(&mut place).collect()
}

#[test]
fn a_movement_file_of_ns2_is_followed_and_a_new_walk_ends_the_old() {
    let hosts = parse_ns2("scene.tcl", MOVEMENTS, 2).expect("a good file");
    let seen = places(hosts.clone(), 0, &[0, 10, 12, 15, 25, 35, 1000]);
    let expected = [
        (100.0, 0.0),
        (100.0, 0.0),
        (120.0, 0.0),
        (150.0, 0.0),
        (150.0, 50.0),
        (150.0, 100.0),
        (150.0, 100.0),
    ];
    assert_eq!(seen, expected);
    assert_eq!(places(hosts, 1, &[0, 1000]), [(0.0, 50.0), (0.0, 50.0)]);
}

#[test]
fn bad_movement_files_are_refused_with_file_and_line() {
    let good = "$node_(0) set X_ 1\n$node_(0) set Y_ 1\n";
    for (line, complaint) in [
        ("$node_(3) set X_ 1", "scene.tcl:3: host 3 does not exist: there are 1, from 0"),
        ("$node_(0) set X_ east", "scene.tcl:3: `east` is no number"),
        ("$node_(0) set X_ inf", "scene.tcl:3: `inf` is no number"),
        ("$node_(0) set X_ 2e9", "scene.tcl:3: `2e9` is not from -1e9 to 1e9"),
        ("$node_(0) set W_ 1", "scene.tcl:3: `W_` is no coordinate: X_, Y_ or Z_"),
        ("$node_(zero) set X_ 1", "scene.tcl:3: `$node_(zero)` is no host: $node_(0), $node_(1), ..."),
        ("$ns_ at 1 \"$node_(0) setdest 1 1 -2\"", "scene.tcl:3: the speed -2 is below 0 m/s"),
        ("$ns_ at -1 \"$node_(0) setdest 1 1 2\"", "scene.tcl:3: the time -1 is not from 0 to 1e9 seconds"),
        (
            "$ns_ at 1 \"$node_(0) flies 1 1 2\"",
            "scene.tcl:3: not understood: `$ns_ at 1 \"$node_(0) flies 1 1 2\"`",
        ),
        ("hello", "scene.tcl:3: not understood: `hello`"),
        (
            "$ns_ at 2 \"$node_(0) setdest 1 1 2\"\n$ns_ at 1 \"$node_(0) setdest 1 1 2\"",
            "scene.tcl:4: host 0 begins a walk before its last one",
        ),
    ] {
        let error = parse_ns2("scene.tcl", &format!("{good}{line}\n"), 1).expect_err(line);
        assert_eq!(error.to_string(), complaint);
    }
    let error = parse_ns2("scene.tcl", good, 2).expect_err("one host has no place");
    assert_eq!(error.to_string(), "scene.tcl: host 1 has no place");
}

#[test]
fn places_over_time_are_followed_and_gaps_are_refused() {
    let text = "time_s,host,x_m,y_m\n5, 0, 0, 0\n10, 0, 50, 100\n0, 1, 7, 7\n";
    let hosts = parse_csv("walk.csv", text, 2).expect("a good file");
    assert_eq!(
        places(hosts, 0, &[0, 5, 7, 10, 60]),
        [(0.0, 0.0), (0.0, 0.0), (20.0, 40.0), (50.0, 100.0), (50.0, 100.0)]
    );
    for (text, complaint) in [
        ("0,0,1", "walk.csv:1: 3 fields instead of 4: time_s,host,x_m,y_m"),
        ("0,0,1,north", "walk.csv:1: `north` is no number"),
        ("5,0,1,1\n5,0,2,2", "walk.csv:2: host 0 is in two places at once, or goes back in time"),
        ("5,9,1,1", "walk.csv:1: host 9 does not exist: there are 1, from 0"),
        ("time,host,x,y", "walk.csv: host 0 has no place"),
    ] {
        assert_eq!(parse_csv("walk.csv", text, 1).expect_err(text).to_string(), complaint);
    }
}

#[test]
fn degrees_become_metres_east_and_north_of_the_first_place() {
    // A thousandth of a degree of latitude is 111.195 m; of longitude at 60 degrees half of that.
    let walk = "60.0,24.0\n5,0,60.001,24.0\n10,0,60.001,24.001";
    let expected = [(0.0, 0.0), (0.0, 111.195), (55.598, 111.195)];
    let swapped = "24.0,60.0\n5,0,24.0,60.001\n10,0,24.001,60.001";
    for text in
        [format!("time_s,host,lat,lon\n0,0,{walk}"), format!("Time,Host,Longitude,Latitude\n0,0,{swapped}")]
    {
        let hosts = parse_csv("gps.csv", &text, 1).expect("a good file");
        assert_eq!(places(hosts, 0, &[0, 5, 10]), expected, "{text}");
    }
    let date_line = "t,host,lat,lng\n0,0,0,179.999\n10,0,0,-179.999\n";
    let hosts = parse_csv("gps.csv", date_line, 1).expect("a good file");
    assert_eq!(places(hosts, 0, &[10]), [(222.39, 0.0)]);
    for (line, complaint) in [
        ("0,0,91,0", "gps.csv:2: latitude 91, longitude 0: no place on earth"),
        ("0,0,0,181", "gps.csv:2: latitude 0, longitude 181: no place on earth"),
    ] {
        let text = format!("time_s,host,lat,lon\n{line}");
        assert_eq!(parse_csv("gps.csv", &text, 1).expect_err(line).to_string(), complaint);
    }
}

/// Mean speed of 400 hosts, over a second that begins at `at`, in metres per second.
fn mean_speed(start: WaypointStart, at: u64, pause: Duration) -> f64 {
    let model = RandomWaypoint {
        area: Area { width_m: 1000.0, height_m: 600.0 },
        min_speed_m_per_s: 0.5,
        max_speed_m_per_s: 20.0,
        pause,
        start,
    };
    let mut air =
        air(RadioConfig::wavelan(), MacConfig::ns2(), vec![Mobility::RandomWaypoint(model); 400], 5);
    let ticks = 20;
    let mut total = 0.0;
    for host in (0..400).map(HostId) {
        for tick in 0..ticks {
            let when = |k: u64| secs(at) + Duration::from_millis(1000 / ticks) * k;
            total += air.position(when(tick), host).distance_m(air.position(when(tick + 1), host));
        }
    }
    total / 400.0
}

#[test]
fn the_steady_start_has_the_speed_of_the_long_run_and_the_uniform_start_slows_down() {
    // The long run: the harmonic kind of mean, distance over time (Yoon, Liu and Noble 2003).
    let long_run = 19.5 / libm::log(20.0 / 0.5);
    for at in [0, 500] {
        let speed = mean_speed(WaypointStart::Steady, at, Duration::ZERO);
        assert!((speed / long_run - 1.0).abs() < 0.12, "steady at {at} s: {speed} m/s, expected {long_run}");
    }
    let first = mean_speed(WaypointStart::Uniform, 0, Duration::ZERO);
    let later = mean_speed(WaypointStart::Uniform, 1500, Duration::ZERO);
    assert!(first > 9.0 && (later / long_run - 1.0).abs() < 0.12, "uniform: {first}, then {later} m/s");
    let with_pauses = mean_speed(WaypointStart::Steady, 0, Duration::from_secs(60));
    let after = mean_speed(WaypointStart::Steady, 1000, Duration::from_secs(60));
    assert!((with_pauses / after - 1.0).abs() < 0.3, "with pauses: {with_pauses}, then {after} m/s");
}

#[test]
fn time_between_whole_seconds_counts() {
    let hosts = parse_ns2("scene.tcl", MOVEMENTS, 2).expect("a good file");
    let mut air = air(RadioConfig::wavelan(), MacConfig::ns2(), hosts, 1);
    let place = air.position(Instant::from_millis(10_250), HostId(0));
    assert!((place.x_m - 102.5).abs() < 1e-9, "{place:?}");
}
