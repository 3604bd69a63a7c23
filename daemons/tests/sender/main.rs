//! The kernel as a sender that heeds loss reports, against a receiver and an attacker made by hand: what each report
//! may do to a connection, and what not.
//!
//! This process goes into a cgroup of its own, so that nobody else's connections are concerned. Where the kernel or the
//! privileges lack, each test says so and counts as skipped.
mod cgroup;
mod peer;

use cgroup::Cgroup;
use peer::{Peer, report};
use prismux_daemons::sender::counters::SenderCounters;
use prismux_daemons::sender::{CONGESTION_CONTROL, SenderError, setup};
use prismux_linux::bpf::{Map, Program};
use prismux_namespaces::Test;
use std::process::ExitCode;

const TESTS: &[Test] = prismux_namespaces::tests![
    a_report_decreases_the_window_by_its_share_once_per_link_and_window,
    forged_reports_do_no_more_than_one_lost_packet,
    malformed_and_foreign_reports_are_counted_and_ignored,
    a_connection_with_another_congestion_control_is_left_alone,
    nothing_is_left_behind_and_nothing_else_changed,
];

fn main() -> ExitCode {
    // The name in the kernel is one for the whole host: one test at a time.
    prismux_namespaces::run(&[(TESTS, 1)])
}

/// Runs a test with the sender enabled for this process, and takes it out again. Says so where it cannot be had.
fn enabled(test: impl FnOnce() + std::panic::UnwindSafe) {
    let Some(cgroup) = Cgroup::enter() else {
        println!("skipped: no cgroup of version 2 to make a test's own in");
        return;
    };
    match setup::enable(Some(cgroup.folder())) {
        Ok(_) => {}
        Err(error @ (SenderError::Lacking { .. } | SenderError::NotPermitted)) => {
            println!("skipped: {error}");
            return;
        }
        Err(error) => panic!("{error}"),
    }
    let result = std::panic::catch_unwind(test);
    setup::disable().expect("disabling what was enabled");
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

fn counters() -> SenderCounters {
    setup::status().unwrap().counters.expect("enabled")
}

fn a_report_decreases_the_window_by_its_share_once_per_link_and_window() {
    enabled(|| {
        let mut peer = Peer::connect("cubic");
        let (first, window) = (peer.acknowledged(), peer.window());
        assert_eq!(peer.congestion_control(), "cubic");
        // A link with half of the capacity: three quarters remain. Its repeat and its second loss change nothing more.
        peer.acknowledge(0, &report(1, 0, 0xc000, first));
        assert_eq!((peer.congestion_control().as_str(), peer.window()), (CONGESTION_CONTROL, window));
        peer.acknowledge(0, &report(1, 1, 0xc000, first));
        peer.acknowledge(0, &report(1, 0, 0xc000, first + 1000));
        let state = (counters().reports_accepted, counters().reports_same_window);
        assert_eq!(state, (1, 2));
        // The proxy has repaired it meanwhile: the decrease is due all the same.
        peer.acknowledge(2, &[]);
        let kept = (window * 3).div_ceil(4);
        assert_eq!(peer.threshold(), kept, "of {window}");
        assert!((kept..=kept + 1).contains(&peer.window()), "{} of {window}", peer.window());
        let counters = counters();
        assert_eq!((counters.decreases_by_report, counters.connections_adopted), (1, 1));
        let mean = counters.mean_kept.unwrap();
        assert!((mean - f64::from(kept) / f64::from(window)).abs() < 0.001, "{mean}");
    });
}

fn forged_reports_do_no_more_than_one_lost_packet() {
    enabled(|| {
        let mut peer = Peer::connect("cubic");
        let (first, window) = (peer.acknowledged(), peer.window());
        for link in 0..128 {
            peer.acknowledge(0, &report(link, 0, 0x8000, first));
        }
        peer.acknowledge(2, &[]);
        assert_eq!(peer.threshold(), window / 2, "one halving for many links of a window");
        // Nor do others within the same window, or the same once more.
        let first = peer.acknowledged();
        for link in 0..=255 {
            peer.acknowledge(0, &report(link, 0, 0x8000, first));
        }
        assert_eq!((counters().reports_accepted, counters().reports_same_window), (256, 128));
        peer.acknowledge(1, &[]);
        assert_eq!((peer.threshold(), counters().decreases_by_report), (window / 2, 2));
    });
}

fn malformed_and_foreign_reports_are_counted_and_ignored() {
    enabled(|| {
        let mut peer = Peer::connect("reno");
        let (first, window) = (peer.acknowledged(), peer.window());
        let good = report(1, 0, 0xc000, first);
        // Too short, with its length set right; too long; to keep less than half; not out yet; acknowledged before.
        let mut short = good.clone();
        short[1] = 8;
        short[8..].fill(1);
        let mut long = good.clone();
        long.extend([0; 4]);
        long[1] = 16;
        for option in [&short, &long, &report(1, 0, 0x7fff, first)] {
            peer.acknowledge(0, option);
        }
        assert_eq!(counters().reports_malformed, 3);
        for lost in [first.wrapping_add(10_000_000), first.wrapping_sub(1), first.wrapping_add(1 << 31)] {
            peer.acknowledge(0, &report(1, 0, 0xc000, lost));
        }
        // Acknowledged by the very segment that reports it.
        peer.acknowledge(1, &good);
        let counters = counters();
        assert_eq!((counters.reports_not_outstanding, counters.reports_accepted), (4, 0));
        assert!(peer.window() >= window && peer.congestion_control() == "reno");
        // Another experiment's option, and one that is cut off, are nothing to us.
        peer.acknowledge(0, &[253, 4, b'E', b'L']);
        peer.acknowledge(0, &[253, 40, b'P', b'R']);
        assert_eq!(setup::status().unwrap().counters, Some(counters));
        // A segment outside of the receive window never reaches us.
        let forged = report(1, 0, 0xc000, peer.acknowledged());
        peer.acknowledge_from_afar(&forged);
        assert_eq!(setup::status().unwrap().counters, Some(counters));
    });
}

fn a_connection_with_another_congestion_control_is_left_alone() {
    enabled(|| {
        let Some(mut peer) = Peer::try_connect("bbr") else {
            println!("skipped: this kernel has no bbr");
            return;
        };
        let first = peer.acknowledged();
        peer.acknowledge(0, &report(1, 0, 0xc000, first));
        assert_eq!(peer.congestion_control(), "bbr");
        assert_eq!((counters().reports_other_control, counters().reports_accepted), (1, 0));
    });
}

fn nothing_is_left_behind_and_nothing_else_changed() {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap();
    let settings = || (read("tcp_congestion_control"), read("tcp_available_congestion_control"));
    if let Err(error) = setup::status() {
        println!("skipped: {error}");
        return;
    }
    let (before, there) = (settings(), in_the_kernel());
    assert!(!before.1.contains(CONGESTION_CONTROL), "somebody has enabled it on this host: {}", before.1);
    enabled(|| {
        assert!(read("tcp_available_congestion_control").contains(CONGESTION_CONTROL));
        assert!(matches!(setup::enable(None), Err(SenderError::AlreadyEnabled { .. })));
        let mut peer = Peer::connect("cubic");
        let first = peer.acknowledged();
        peer.acknowledge(0, &report(1, 0, 0xc000, first));
        assert_eq!(counters().connections_live, 1);
        drop(peer);
    });
    assert_eq!(settings(), before);
    assert!(matches!(setup::disable(), Err(SenderError::NotEnabled)));
    // The kernel takes things down after a grace period.
    for attempt in 0.. {
        let left = in_the_kernel();
        if left.iter().zip(&there).all(|(left, there)| left <= there) {
            break;
        }
        assert!(attempt < 200, "left behind: {left:?}, before: {there:?}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

/// How many programs and maps of ours the kernel has. Connections of another run may still hold some.
fn in_the_kernel() -> Vec<usize> {
    let programs =
        ["prismux_sockets", "ssthresh", "in_ack_event"].map(|name| Program::named(name).unwrap().len());
    let maps =
        ["prismux_counts", "prismux_notes", "prismux_sender"].map(|name| Map::named(name).unwrap().len());
    [programs, maps].concat()
}
