//! Every shipped scenario runs in the simulator, briefly, with the checkers on; equal seeds give equal bytes.
use prismux_endpoint::random::Seed;
use prismux_plan::{Congestion, Flow};
use prismux_scenario::registry::Backend;
use prismux_scenario::{Scenario, shipped};
use prismux_simulator::{Simulation, SimulationOptions};
use prismux_study::repetition;
use prismux_study::run::{self, RunOptions};
use prismux_study::variant;
use prismux_units::{Duration, Instant};

/// Long enough for handshakes, slow start and some events.
const BRIEF: Duration = Duration::from_secs(8);

fn options(seed: u64) -> RunOptions {
    RunOptions { seed, ..RunOptions::default() }
}

fn brief(mut scenario: Scenario) -> Scenario {
    let plan = &mut scenario.plan;
    plan.duration = plan.duration.min(BRIEF);
    plan.events.retain(|event| event.at < BRIEF);
    // What would begin later has no time to carry anything.
    plan.flows.iter_mut().for_each(|flow| flow.start = flow.start.min(BRIEF - Duration::from_millis(1)));
    plan.measure.warm_up = Some(Duration::from_secs(2));
    scenario
}

#[test]
fn every_shipped_scenario_carries_data_and_the_checkers_find_nothing() {
    for shipped in shipped::ALL {
        let plan = brief(shipped.file().scenario(None, &[]).unwrap()).plan;
        let options = SimulationOptions { checks: Some(true), ..SimulationOptions::default() };
        let mut simulation = Simulation::from_plan(&plan, Seed(1), options)
            .unwrap_or_else(|error| panic!("{}: {error}", shipped.name));
        simulation.run_until(Instant::ZERO + plan.duration);
        let faults = simulation.faults();
        assert!(faults.is_empty(), "{} (seed 1): {faults:?}", shipped.name);
        let result = simulation.result();
        for flow in &plan.flows {
            assert_eq!(
                result.flows[&flow.name].transport,
                flow.transport_name(),
                "{}: {}",
                shipped.name,
                flow.name
            );
        }
        // Over the air some starve, and some have no way to one another.
        let wired = plan.media.is_empty();
        assert!(wired || result.total.goodput_bps > 0.0, "{}: nothing arrived", shipped.name);
        let in_time = |flow: &&Flow| wired && flow.start < BRIEF - Duration::from_millis(1);
        for flow in plan.flows.iter().filter(in_time) {
            assert!(
                result.flows[&flow.name].bytes > 0,
                "{}: {} got nothing (seed 1)",
                shipped.name,
                flow.name
            );
        }
    }
}

#[test]
fn every_declared_variant_runs() {
    for shipped in shipped::ALL {
        let file = shipped.file();
        for variant in file.variants().unwrap() {
            let scenario = brief(file.scenario(Some(&variant.name), &[]).unwrap());
            let result = run::run(&scenario, Backend::Sim, &options(1))
                .unwrap_or_else(|error| panic!("{}/{}: {error}", shipped.name, variant.name));
            // Routing that announces itself from time to time (DSDV) may know no route after so short a time.
            let wired = scenario.plan.media.is_empty();
            assert!(!wired || result.total.goodput_bps > 0.0, "{}/{}", shipped.name, variant.name);
            // The air has no capacity of its own; each flow's goodput is that of its own time.
            let mut starts = scenario.plan.flows.iter().map(|flow| flow.start);
            let first = starts.next();
            let together = starts.all(|start| Some(start) == first);
            if let Some(efficiency) = result.total.efficiency.filter(|_| together) {
                assert!(
                    efficiency <= 1.02,
                    "{}/{}: {efficiency} of what is possible",
                    shipped.name,
                    variant.name
                );
            }
        }
    }
}

#[test]
fn equal_seeds_give_equal_bytes_and_others_do_not() {
    let scenario = brief(shipped::find("prism-loss-disparity").unwrap().file().scenario(None, &[]).unwrap());
    let run = |seed| run::run(&scenario, Backend::Sim, &options(seed)).unwrap().to_json();
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

#[test]
fn a_scenario_in_which_the_seed_changes_nothing_says_so() {
    for shipped in shipped::ALL {
        let file = shipped.file();
        let whole = file.scenario(None, &[]).unwrap();
        let is_one_run = |scenario: &Scenario| {
            let runs = [1, 2].map(|seed| run::run(scenario, Backend::Sim, &options(seed)).unwrap());
            repetition::is_one_run(&runs)
        };
        let says = file.text().contains("The seed changes nothing in it");
        // What is random may come late.
        let changes_nothing = is_one_run(&brief(whole.clone())) && (says || is_one_run(&whole));
        assert_eq!(changes_nothing, says, "{}", shipped.name);
    }
}

#[test]
fn results_speak_the_words_of_the_scenario() {
    let file = shipped::find("prism-fluctuation").unwrap().file();
    let scenario = brief(file.scenario(None, &[]).unwrap());
    let result = run::run(&scenario, Backend::Sim, &options(1)).unwrap();
    assert_eq!(result.scenario, "prism-fluctuation");
    assert_eq!(result.scenario_hash, prismux_scenario::hash(&scenario.plan));
    let transports: Vec<&str> = result.flows.values().map(|flow| flow.transport.as_str()).collect();
    assert_eq!(transports, ["tcp-prism", "pareto", "pareto"]);
    let shared: Vec<&String> =
        result.links.iter().filter(|(_, link)| link.shared).map(|(name, _)| name).collect();
    assert_eq!(shared, ["wwan1", "wwan2", "wwan3"]);
}

#[test]
fn a_flow_past_the_proxy_uses_its_members_link_only() {
    let file = shipped::find("two-members").unwrap().file();
    let set = ["flows.download.via=m2", "duration=10 s", "events=[]"];
    let result = run::run(&file.scenario(None, &set).unwrap(), Backend::Sim, &options(1)).unwrap();
    assert_eq!(result.links["wwan1"].delivered_bytes, 0);
    // No tunnel headers: 1448 of 1500 bytes are payload.
    let goodput = result.flows["download"].goodput_bps;
    assert!((500e3..600e3).contains(&goodput), "{goodput}");
}

#[test]
fn a_member_outside_the_proxys_list_carries_nothing() {
    let file = shipped::find("prism-aggregation").unwrap().file();
    let set = ["nodes.proxy.members=[\"m1\", \"m3\"]", "duration=20 s"];
    let result = run::run(&file.scenario(None, &set).unwrap(), Backend::Sim, &options(1)).unwrap();
    for (name, used) in [("wwan1", true), ("wwan2", false), ("wwan3", true), ("wwan4", false)] {
        // Acknowledgements do not count: results show the download direction.
        assert_eq!(result.links[name].delivered_bytes > 0, used, "{name}");
    }
}

#[test]
fn the_built_in_variants_are_the_scenarios_they_say() {
    let file = shipped::find("demo-today").unwrap().file();
    let all = variant::variants(&file, &[], &[], Backend::Lab).unwrap();
    let names: Vec<&str> = all.iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!(names, ["single", "striping", "mptcp", "prism", "tcp-prism"]);
    let members: Vec<&str> = all[0].candidates.iter().map(|candidate| candidate.label.as_str()).collect();
    assert_eq!(members, ["m1", "m2", "m3"]);
    let bbr = variant::variants(&file, &["prism-bbr".to_string()], &[], Backend::Lab).unwrap();
    let flow = &bbr[0].candidates[0].scenario.plan.flows[0];
    assert_eq!(flow.tcp.congestion, Some(Congestion::Bbr));
    let error = variant::variants(&file, &["strping".to_string()], &[], Backend::Lab).unwrap_err();
    assert!(error.to_string().contains("did you mean \"striping\""), "{error}");
}

#[test]
fn what_only_the_lab_has_is_refused_with_a_way_out() {
    let file = shipped::find("two-members").unwrap().file();
    let refused = |set: &[&str]| {
        let scenario = file.scenario(None, set).unwrap();
        run::run(&scenario, Backend::Sim, &options(1)).unwrap_err().to_string()
    };
    assert!(refused(&["events=[{ at = \"5 s\", kill = \"m1\" }]"]).contains("--on lab"));
}

/// A kernel's CUBIC ends slow start when it sees a long train of ACKs; the proxy gives it none before the links are
/// full.
#[test]
fn linux_hystart_costs_a_download_over_several_links_little() {
    let brief = ["duration=\"8 s\"", "flows.download.bytes=\"60 MB\""];
    for name in ["demo-today", "mix-50-10", "mix-100-30-10"] {
        let file = shipped::find(name).expect("shipped").file();
        let goodput = |hystart: &str| {
            let overrides = [brief[0], brief[1], hystart];
            let scenario = file.scenario(None, &overrides).unwrap_or_else(|error| panic!("{error}"));
            run::run(&scenario, Backend::Sim, &options(1)).unwrap().total.goodput_bps
        };
        let (with, without) =
            (goodput("flows.download.tcp.hystart=linux"), goodput("flows.download.tcp.hystart=off"));
        assert!(with >= 0.85 * without, "{name}: {with} of {without} bit/s");
    }
}
