use super::{
    Scheduling, begin_unprivileged, give_private_run_directory, may_make_user_namespaces, prefer_this_thread,
};
use crate::privileges;
use std::process::Command;

fn said(command: &mut Command) -> String {
    String::from_utf8(command.output().expect("the program begins").stdout).expect("text")
}

/// Mount namespaces and other users are for root; without, there is nothing to try.
fn is_root() -> bool {
    let root = privileges::capable() && nix::unistd::geteuid().is_root();
    if !root {
        println!("skipped: needs root");
    }
    root
}

#[test]
fn a_private_run_directory_holds_what_was_asked_for_and_no_more() {
    if !is_root() {
        return;
    }
    let mut command = Command::new("ls");
    command.args(["-A", "/run"]);
    give_private_run_directory(&mut command, Some(c"/run/served"));
    assert_eq!(said(&mut command), "served\n");
    let mut command = Command::new("ls");
    command.args(["-A", "/run"]);
    give_private_run_directory(&mut command, None);
    assert_eq!(said(&mut command), "");
    assert!(!std::path::Path::new("/run/served").exists(), "seen by this process");
}

#[test]
fn an_unprivileged_program_is_nobody_and_sees_the_tun_driver() {
    if !is_root() {
        return;
    }
    let mut command = Command::new("sh");
    command.args(["-c", "id -u; test -w /dev/net/tun && echo open"]);
    begin_unprivileged(&mut command);
    assert_eq!(said(&mut command), "65534\nopen\n");
}

#[test]
fn the_answer_about_user_namespaces_is_that_of_unshare() {
    let unshare = Command::new("unshare").args(["--user", "--net", "true"]).output();
    if let Ok(output) = unshare {
        assert_eq!(may_make_user_namespaces(), output.status.success());
    }
}

/// Of capabilities(7).
const CAP_SYS_NICE: u64 = 23;

#[test]
fn a_preferred_thread_is_scheduled_before_ordinary_ones_where_that_is_permitted() {
    let scheduling = || {
        let got = prefer_this_thread(1);
        let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("procfs");
        let fields: Vec<i128> =
            stat.rsplit(')').next().unwrap().split_whitespace().skip(1).flat_map(str::parse).collect();
        // proc(5), counted from field 4: 19 is the nice value, 41 the policy.
        (got, fields[15], fields[37])
    };
    let (got, nice, policy) = std::thread::spawn(scheduling).join().unwrap();
    let permitted = privileges::holds(CAP_SYS_NICE);
    let is = match got {
        Scheduling::RealTime => policy == i128::from(libc::SCHED_RR),
        Scheduling::Preferred => nice == -10,
        Scheduling::Ordinary => !permitted && nice == 0,
    };
    assert!(is, "{got}, but nice {nice}, policy {policy}");
}
