//! RCP and R²CP in the lab: `prismux serve` and `prismux fetch` as processes in network namespaces, moving between
//! interfaces and servers. What is asserted are bytes, who carried them, and in which order: a slow machine changes
//! none of it.
use prismux_namespaces::Test;
use serde_json::Value;
use std::process::{Command, ExitCode};

const TESTS: &[Test] = prismux_namespaces::tests![
    a_handoff_with_overlap_moves_the_stream_to_the_new_interface,
    an_interface_that_is_gone_is_replaced_by_the_new_one,
    a_migration_to_another_server_fetches_nothing_twice,
    two_servers_over_two_interfaces_share_the_work,
    a_target_rate_is_never_passed_and_the_dear_interface_fills_in,
    a_dear_interface_stands_by_until_the_cheap_one_goes_dark,
    a_blackout_of_one_of_two_pipes_leaves_the_other_and_ends,
    one_pipe_of_rcp_is_a_server_and_a_client_too,
    what_has_no_meaning_in_the_lab_is_refused_with_a_remedy,
];

fn main() -> ExitCode {
    prismux_namespaces::run(&[(TESTS, 4)])
}

/// Payload of a full data packet.
const SEGMENT_BYTES: u64 = 1289;

/// Runs a scenario in the lab.
fn lab(scenario: &str, variant: Option<&str>, set: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prismux"));
    command.args(["run", scenario, "--on", "lab", "--json", "--set", "measure.interval=100 ms"]);
    command.args(variant.into_iter().flat_map(|variant| ["--variant", variant]));
    command.args(set.iter().flat_map(|set| ["--set", set]));
    let output = command.output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{complaint}");
    Run(serde_json::from_slice(&output.stdout).unwrap())
}

/// A result.
struct Run(Value);

impl Run {
    fn flow(&self) -> &Value {
        &self.0["flows"]["download"]
    }

    fn bytes(&self) -> u64 {
        self.flow()["bytes"].as_u64().unwrap()
    }

    /// Payload that a pipe was the first to bring.
    fn received(&self, pipe: &str) -> u64 {
        self.flow()["pipes"][pipe]["received_bytes"].as_u64().unwrap_or(0)
    }

    fn count(&self, node: &str, name: &str) -> u64 {
        self.0["nodes"][node][name]
            .as_u64()
            .unwrap_or_else(|| panic!("{node} has counted no {name}: {}", self.0))
    }

    /// Bytes that a link carried between two times, headers and handshakes included.
    fn carried(&self, link: &str, from_s: f64, to_s: f64) -> u64 {
        let rates = self.0["series"]["links"][link]["throughput_bps"].as_array().unwrap();
        self.sum(rates, from_s, to_s)
    }

    /// Bytes that the application got between two times.
    fn delivered(&self, from_s: f64, to_s: f64) -> u64 {
        self.sum(self.0["series"]["flows"]["download"]["goodput_bps"].as_array().unwrap(), from_s, to_s)
    }

    fn sum(&self, rates: &[Value], from_s: f64, to_s: f64) -> u64 {
        let interval_s = self.0["series"]["interval_s"].as_f64().unwrap();
        let index = |seconds: f64| ((seconds / interval_s).round() as usize).min(rates.len());
        let bits: f64 = rates[index(from_s)..index(to_s)].iter().filter_map(Value::as_f64).sum();
        (bits * interval_s / 8.0) as u64
    }

    /// Nothing came twice that had not been asked for twice because it seemed lost.
    fn repeats_only_losses(&self, client: &str) {
        let repeated = self.flow()["retransmitted_segments"].as_u64().unwrap();
        let twice = self.count(client, "duplicate_bytes");
        assert!(
            twice <= repeated * SEGMENT_BYTES,
            "{twice} bytes came twice, {repeated} segments were repeated"
        );
    }

    /// The whole object, its digest right, each byte over one pipe.
    fn is_whole(&self, bytes: u64, pipes: [&str; 2]) {
        assert!(!self.flow()["completion_s"].is_null(), "{}", self.0);
        assert_eq!(self.flow()["sha256"].as_str().unwrap().len(), 64);
        assert_eq!((self.bytes(), self.received(pipes[0]) + self.received(pipes[1])), (bytes, bytes));
    }
}

fn a_handoff_with_overlap_moves_the_stream_to_the_new_interface() {
    let set = [
        "duration=11 s",
        "flows.download.pipes.new.opens=3 s",
        "flows.download.pipes.old.closes=5 s",
        "measure.warm_up=1 s",
    ];
    let run = lab("r2cp-handoff", Some("overlap"), &set);
    assert_eq!(run.carried("wlan2", 0.0, 2.9), 0, "before it opens");
    assert!(run.carried("wlan1", 0.0, 5.0) > 100_000 && run.carried("wlan2", 3.0, 11.0) > 100_000);
    assert_eq!(run.carried("wlan1", 9.0, 11.0), 0, "after it was closed, and what was on its way arrived");
    assert!(run.delivered(9.0, 11.0) > 10_000, "the stream goes on");
    run.repeats_only_losses("laptop");
}

fn an_interface_that_is_gone_is_replaced_by_the_new_one() {
    let set = [
        "duration=9 s",
        "flows.download.pipes.new.opens=3 s",
        "flows.download.pipes.old.drops=3 s",
        "measure.warm_up=1 s",
    ];
    let run = lab("r2cp-handoff", Some("at-once"), &set);
    assert!(run.carried("wlan1", 0.0, 3.0) > 50_000);
    assert_eq!(run.carried("wlan1", 6.0, 9.0), 0, "it is gone");
    assert!(run.delivered(6.0, 9.0) > 10_000, "the stream goes on");
    run.repeats_only_losses("laptop");
}

fn a_migration_to_another_server_fetches_nothing_twice() {
    let set = [
        "duration=60 s",
        "flows.download.bytes=2 MB",
        "flows.download.pipes.new.opens=3 s",
        "flows.download.pipes.old.closes=4 s",
        "measure.warm_up=1 s",
    ];
    let run = lab("r2cp-migration", Some("migrate"), &set);
    run.is_whole(2_000_000, ["old", "new"]);
    assert!(run.received("old") > 50_000 && run.received("new") > 50_000, "{}", run.flow());
    run.repeats_only_losses("laptop");
    // What the servers sent beyond the object is what was asked for again, and the answer to a request at its end.
    let served = run.count("server1", "data_bytes") + run.count("server2", "data_bytes");
    let repeated = run.flow()["retransmitted_segments"].as_u64().unwrap();
    assert!(served <= 2_000_000 + (repeated + 1) * SEGMENT_BYTES, "{served} served, {repeated} repeated");
}

fn two_servers_over_two_interfaces_share_the_work() {
    let set = ["duration=60 s", "flows.download.bytes=3 MB", "measure.warm_up=1 s"];
    let run = lab("r2cp-aggregation", Some("both"), &set);
    run.is_whole(3_000_000, ["first", "second"]);
    for (pipe, server) in [("first", "server1"), ("second", "server2")] {
        assert!(run.received(pipe) > 200_000, "{}", run.flow());
        assert!(run.count(server, "data_bytes") >= run.received(pipe));
    }
    run.repeats_only_losses("laptop");
}

fn a_target_rate_is_never_passed_and_the_dear_interface_fills_in() {
    // Where the neighbours begin before a client that a busy machine starts late, their first burst may drown all that
    // opens the cheap pipe, for as long as the run.
    let set = [
        "duration=14 s",
        "links.shared1.rate=400 kbit/s",
        "flows.background.start=3 s",
        "measure.warm_up=1 s",
    ];
    let run = lab("r2cp-policy", None, &set);
    // What the cheap link can carry is less than wanted, whatever the neighbours do.
    assert!(run.received("cheap") > 20_000 && run.received("dear") > 100_000, "{}", run.flow());
    let bucket = 720_000 / 8 / 10;
    assert!(run.bytes() <= 720_000 / 8 * 14 + bucket, "{} bytes in 14 s", run.bytes());
    run.repeats_only_losses("laptop");
}

fn a_dear_interface_stands_by_until_the_cheap_one_goes_dark() {
    let set = [
        "duration=16 s",
        "flows.download.pipes.first.cost=1",
        "events.0.at=7 s",
        "events.1.at=15.5 s",
        "measure.warm_up=1 s",
    ];
    let run = lab("r2cp-blackout", None, &set);
    // Whichever is open first begins; then the cheap one has it all.
    let (dear, cheap) = (run.carried("wlan1", 4.0, 6.9), run.carried("wlan2", 4.0, 6.9));
    assert!(dear < 5_000 && cheap > 100_000, "{dear} of the dear, {cheap} of the cheap");
    assert!(run.carried("wlan1", 7.0, 16.0) > 100_000, "it has taken over");
    run.repeats_only_losses("laptop");
}

fn a_blackout_of_one_of_two_pipes_leaves_the_other_and_ends() {
    let set = ["duration=16 s", "events.0.at=4 s", "events.1.at=8 s", "measure.warm_up=1 s"];
    let run = lab("r2cp-blackout", None, &set);
    assert!(run.carried("wlan2", 0.0, 4.0) > 50_000);
    assert_eq!(run.carried("wlan2", 4.5, 7.9), 0, "it is dark");
    assert!(run.delivered(4.5, 8.0) > 100_000, "the other goes on");
    assert!(run.carried("wlan2", 8.0, 16.0) > 50_000, "it carries again");
    run.repeats_only_losses("laptop");
}

fn one_pipe_of_rcp_is_a_server_and_a_client_too() {
    // The lab runs today's programs, not the source's TCP.
    let today = ["flows.download.profile=modern", "flows.download.tcp={}"];
    let brief =
        ["duration=60 s", "flows.download.bytes=1 MB", "links.radio.corrupt=0", "measure.warm_up=0 s"];
    let set = [&today[..], &brief[..]].concat();
    let run = lab("rcp-wireless-loss", Some("rcp"), &set);
    assert!(!run.flow()["completion_s"].is_null());
    assert_eq!((run.bytes(), run.flow()["transport"].as_str()), (1_000_000, Some("rcp")));
}

fn what_has_no_meaning_in_the_lab_is_refused_with_a_remedy() {
    for (scenario, variant, set, what, remedy) in [
        ("r2cp-rates", "r2cp-s", "seed=1", "scheduling", "--on sim"),
        ("r2cp-handoff", "overlap", "flows.download.tcp.sack=false", "tcp.sack", "leave it out"),
        ("rcp-wireless-loss", "rcp-eln", "seed=1", "rcp-eln", "--on sim"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prismux"));
        command.args(["run", scenario, "--on", "lab", "--variant", variant]);
        if set != "seed=1" {
            command.args(["--set", set]);
        }
        let output = command.output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success());
        assert!(complaint.contains(what) && complaint.contains(remedy), "{scenario}: {complaint}");
    }
}
