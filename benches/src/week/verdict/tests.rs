//! Verdicts over days that were made up: sound ones, and each kind of trouble.
use super::{Hour, findings, passed};
use prismux_endpoint::random::Seed;

/// A sound week: more in the evening than at night, and no hour like another.
fn week() -> Vec<Hour> {
    let mut random = Seed(3).stream("week");
    let mut hour = |hour: u64| {
        let load = 1.0 + 0.5 * ((hour % 24) as f64 / 24.0 * std::f64::consts::TAU).sin();
        let mut about = |value: f64| (value * load * (0.8 + 0.4 * random.uniform())) as u64;
        let mut made = Hour {
            hour,
            heap_bytes: 20_000_000 + about(1e6),
            proxy_flows: about(200.0),
            proxy_flow_bytes: about(400_000.0),
            in_flight_bytes: about(50_000.0),
            packets_under_way: about(100.0),
            pending_events: 3000 + about(100.0),
            data_packets: about(500_000.0),
            cpu_s: 3.0,
            ..Hour::default()
        };
        made.connections.completed = about(900.0);
        made.connections.longest_stall_s = 20.0;
        made
    };
    (0..168).map(&mut hour).collect()
}

/// What fails when `spoil` has been at every hour.
fn failed(spoil: impl Fn(&mut Hour)) -> Vec<String> {
    let mut hours = week();
    hours.iter_mut().for_each(spoil);
    let findings = findings(&hours, &[]);
    let failed = findings.iter().filter(|finding| finding.holds == Some(false));
    failed.map(|finding| finding.what.clone()).collect()
}

fn is_about(failed: &[String], what: &str) {
    assert!(failed.len() == 1 && failed[0].contains(what), "{what}: {failed:?}");
}

#[test]
fn a_sound_week_passes() {
    assert_eq!(failed(|_| {}), Vec::<String>::new());
    let found = findings(&week(), &[]);
    assert!(passed(&found));
    assert_eq!(found.iter().filter(|finding| finding.holds.is_none()).count(), 1, "{found:?}");
}

/// 300 kB a day, one and a half percent of the heap.
#[test]
fn a_leak_fails() {
    is_about(&failed(|hour| hour.heap_bytes += hour.hour * 300_000 / 24), "live heap");
    is_about(&failed(|hour| hour.proxy_flows += hour.hour), "flows that the proxy knows");
    is_about(&failed(|hour| hour.pending_events += 4 * hour.hour), "pending events");
    is_about(&failed(|hour| hour.in_flight_bytes += 300 * hour.hour), "bytes under way");
}

/// What grows while the gateway warms up is no leak; what begins to grow on the last day is.
#[test]
fn warming_up_is_none_and_the_last_day_counts() {
    assert_eq!(failed(|hour| hour.heap_bytes -= 10_000_000 / (1 + hour.hour)), Vec::<String>::new());
    let late = |hour: &mut Hour| hour.heap_bytes += if hour.hour >= 144 { 2_000_000 } else { 0 };
    is_about(&failed(late), "live heap");
}

#[test]
fn what_is_stuck_fails() {
    let at = |number: u64, act: fn(&mut Hour)| {
        failed(|hour| {
            if hour.hour == number {
                act(hour);
            }
        })
    };
    is_about(&at(30, |hour| hour.connections.longest_stall_s = 700.0), "stands still");
    is_about(&at(31, |hour| hour.links[4].longest_unused_s = 400), "unused");
    is_about(&at(32, |hour| hour.links[0].longest_above_s = 900), "learned rate");
    is_about(&at(33, |hour| hour.connections.wrong = 1), "every byte once");
    is_about(&at(34, |hour| hour.connections.turned_away = 1), "every byte once");
    is_about(&at(35, |hour| hour.mute = 1), "every byte once");
    let faults = ["flow slot1: bytes 0..10 were accepted twice".to_string()];
    assert!(!passed(&findings(&week(), &faults)));
}

/// A run of hours says nothing of growth, and everything else.
#[test]
fn hours_are_judged_as_far_as_they_go() {
    let mut hours = week();
    hours.truncate(2);
    hours[1].heap_bytes *= 10;
    let found = findings(&hours, &[]);
    assert!(passed(&found), "{found:?}");
    hours[1].links[1].longest_unused_s = 3600;
    assert!(!passed(&findings(&hours, &[])));
}
