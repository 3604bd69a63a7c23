//! From scenarios to plans of the lab: flows that `prismux serve` and `prismux fetch` carry.
use prismux_lab::plan::{FetchPlan, Transport};
use prismux_plan::Unsupported;
use prismux_scenario::shipped;
use prismux_units::{ByteCount, Duration, Instant, Rate};

fn fetch(name: &str, variant: Option<&str>, set: &[&str]) -> Result<FetchPlan, Unsupported> {
    let file = shipped::find(name).unwrap().file();
    let plan = prismux_lab::to_lab(&file.scenario(variant, set).unwrap().plan, 1, String::new())?;
    assert_eq!(plan.flows[0].transport, Transport::Fetch);
    Ok(*plan.flows[0].fetch.clone().unwrap())
}

#[test]
fn pipes_keep_servers_links_costs_and_times() {
    let plan = fetch("r2cp-migration", Some("migrate"), &[]).unwrap();
    assert_eq!(plan.window, Some(ByteCount::new(500_000)));
    let [old, new] = &plan.pipes[..] else { panic!("{:?}", plan.pipes) };
    assert_eq!((old.server.as_str(), old.link.as_deref()), ("server1", Some("wlan1")));
    assert_eq!(old.closes, Some(Instant::ZERO + Duration::from_secs(60)));
    assert_eq!((new.server.as_str(), new.link.as_deref()), ("server2", Some("near")));
    assert_eq!(new.opens, Instant::ZERO + Duration::from_secs(58));
    let plan = fetch("r2cp-policy", None, &[]).unwrap();
    assert_eq!(plan.target_rate, Some(Rate::from_kbps(720)));
    assert_eq!(plan.pipes.iter().map(|pipe| pipe.cost).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn rcp_is_one_pipe_and_count_makes_several_clients() {
    let file = shipped::find("rcp-fairness").unwrap().file();
    let plan =
        prismux_lab::to_lab(&file.scenario(Some("all-rcp"), &[]).unwrap().plan, 1, String::new()).unwrap();
    let pipes: Vec<usize> =
        plan.flows.iter().filter_map(|flow| Some(flow.fetch.as_ref()?.pipes.len())).collect();
    assert_eq!(pipes, [1; 20]);
}

#[test]
fn what_the_programs_do_not_have_is_refused_by_name() {
    for (name, variant, set, what) in [
        ("r2cp-rates", Some("r2cp-s"), "seed", "scheduling"),
        ("r2cp-rates", Some("r2cp"), "flows.download.congestion=newreno", "tcp.congestion"),
        ("r2cp-rates", Some("r2cp"), "flows.download.tcp.min_rto=1 s", "tcp.min_rto"),
        ("r2cp-policy", None, "flows.download.pipes.cheap.link=lan1", "link \"lan1\" of its server"),
    ] {
        let set: &[&str] = if set == "seed" { &[] } else { &[set] };
        let error = fetch(name, variant, set).unwrap_err().to_string();
        assert!(error.contains(what) && error.contains("remedy"), "{error}");
    }
}
