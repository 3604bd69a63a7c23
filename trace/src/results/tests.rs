use super::*;

fn link(rate_bps: Option<u64>, delivered_bytes: u64, dropped_packets: u64) -> LinkResult {
    let forward = DirectionResult::new(rate_bps, delivered_bytes, dropped_packets, 10.0);
    LinkResult::new(forward, DirectionResult::new(rate_bps, delivered_bytes / 20, 0, 10.0))
}

fn two_link_run() -> RunResult {
    let flow = FlowResult {
        transport: "tcp-prism".into(),
        goodput_bps: goodput_bps(1_500_000, 10.0),
        steady_goodput_bps: Some(1.25e6),
        bytes: 1_500_000,
        completion_s: Some(10.0),
        ..FlowResult::default()
    };
    let capacity = capacity_bps([1e6, 6e5], 1436, 1500);
    let mut result = RunResult {
        scenario: "two members".into(),
        scenario_hash: String::new(),
        backend: Backend::Sim,
        seed: 7,
        version: "0.1.0".into(),
        duration_s: 10.0,
        total: TotalResult::new(Stretch { bytes: flow.bytes, seconds: 10.0 }, None, capacity),
        flows: Named::from_iter([("download".to_string(), flow)]),
        links: Named::from_iter([
            ("wwan2".to_string(), link(Some(600_000), 500_000, 3)),
            ("wwan1".to_string(), link(Some(1_000_000), 1_000_000, 0)),
            ("lan".to_string(), link(None, 1_500_000, 0)),
        ]),
        groups: Named::new(),
        nodes: Named::new(),
        programs: Named::new(),
        series: None,
    };
    result.set_shared_links(["wwan1", "wwan2"]);
    result
}

#[test]
fn json_has_the_documented_columns_in_file_order() {
    let result = two_link_run();
    let json = result.to_json();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    for pointer in [
        "/scenario",
        "/backend",
        "/seed",
        "/version",
        "/duration_s",
        "/flows/download/transport",
        "/flows/download/goodput_bps",
        "/flows/download/bytes",
        "/flows/download/completion_s",
        "/flows/download/retransmitted_segments",
        "/flows/download/spurious_retransmissions",
        "/flows/download/timeouts",
        "/links/wwan1/rate_bps",
        "/links/wwan1/delivered_bytes",
        "/links/wwan1/dropped_packets",
        "/links/wwan1/utilization",
        "/links/wwan1/reverse/delivered_bytes",
        "/links/wwan1/reverse/dropped_packets",
        "/total/goodput_bps",
        "/total/capacity_bps",
        "/total/efficiency",
    ] {
        assert!(value.pointer(pointer).is_some(), "column {pointer} is missing in {json}");
    }
    assert_eq!(value["backend"], "sim");
    assert!(json.find("wwan2").unwrap() < json.find("wwan1").unwrap(), "order of the file is kept");
    assert_eq!(serde_json::from_str::<RunResult>(&json).unwrap(), result);
}

#[test]
fn efficiency_and_shares_come_from_the_counters() {
    let result = two_link_run();
    let expected = 1.2e6 / (1.6e6 * 1436.0 / 1500.0);
    assert!((result.total.efficiency.unwrap() - expected).abs() < 1e-12);
    assert_eq!(result.links["wwan1"].utilization, Some(0.8));
    assert!((result.links["wwan1"].share.unwrap() - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!((result.links["lan"].share, result.links["lan"].utilization), (None, None));
}

#[test]
fn what_is_unknown_is_null_and_never_a_division_by_zero() {
    let total = TotalResult::new(Stretch::default(), Some(Stretch::default()), 0.0);
    assert_eq!(total.goodput_bps, 0.0);
    assert_eq!((total.efficiency, total.steady_goodput_bps, total.steady_efficiency), (None, None, None));
    assert_eq!(goodput_bps(10, 0.0), 0.0);
    assert_eq!(DirectionResult::new(Some(0), 0, 0, 1.0).utilization, None);
}

#[test]
fn series_shares_sum_to_one_where_anything_moved() {
    let mut series = TimeSeries::new(0.1);
    for (name, bps) in [("a", vec![1.0, 0.0, 3.0]), ("b", vec![3.0, 0.0]), ("lan", vec![4.0, 0.0, 3.0])] {
        series.links.insert(name.into(), LinkSeries { throughput_bps: bps, ..LinkSeries::default() });
    }
    series.set_shares(&["a", "b"]);
    assert_eq!(series.links["a"].share, [0.25, 0.0, 1.0]);
    assert_eq!(series.links["b"].share, [0.75, 0.0]);
    assert!(series.links["lan"].share.is_empty());
    assert_eq!(series.len(), 3);
}

#[test]
fn fairness_is_over_all_named_flows_and_over_groups_of_several() {
    let mut result = two_link_run();
    let flow = |goodput_bps: f64| FlowResult { goodput_bps, ..FlowResult::default() };
    result.flows = Named::from_iter([
        ("web-1".to_string(), flow(1e6)),
        ("web-2".to_string(), flow(3e6)),
        ("file".to_string(), flow(4e6)),
        ("noise".to_string(), flow(9e6)),
    ]);
    let competitor = |flow, group, active_s| Competitor { flow, group, active_s };
    result.set_fairness([
        competitor("web-1", "web", 0.0..10.0),
        competitor("web-2", "web", 2.0..6.0),
        competitor("file", "file", 0.0..10.0),
    ]);
    assert_eq!(result.total.jain, Some(64.0 / (3.0 * 26.0)));
    assert_eq!(result.groups.len(), 1);
    // 10 Mbit and 12 Mbit in ten seconds.
    let web = GroupResult { flows: 2, goodput_bps: 2.2e6, jain: Some(16.0 / 20.0) };
    assert_eq!(result.groups["web"], web);
}
