//! Explicit loss notification: a receiver that hears of damaged packets, TCP's sender told by marks on ACKs, RCP's
//! receiver told by nobody.
#![allow(clippy::disallowed_macros, reason = "prints what it measures")]
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, QueueLimit};
use prismux_plan::{Flow, Plan, Transport};
use prismux_rcp::RcpConfig;
use prismux_simulator::{AnyTransport, RcpFlow, Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::{TcpConfig, TcpProfile};
use prismux_trace::results::FlowResult;
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

fn config() -> TcpConfig {
    TcpConfig {
        delayed_ack: None,
        receive_buffer: ByteCount::new(500_000),
        window_scaling: true,
        ..TcpProfile::Linux24.config()
    }
}

/// A download over a link that damages packets.
fn download(transport: AnyTransport, damaged: f64) -> FlowResult {
    let (mut plan, mut options) =
        (Plan::new("damage", Duration::from_secs(100)), SimulationOptions::checked());
    let (server, mobile) = (plan.host("server"), plan.host("mobile"));
    let link = LinkConfig {
        corrupt: Probability::new(damaged).unwrap(),
        ..LinkConfig::new(Rate::from_mbps(2), Duration::from_millis(65)).with_queue(QueueLimit::Packets(60))
    };
    plan.symmetric_link("radio", [server, mobile], link);
    options.carry(&mut plan, Flow::new("download", server, mobile, Transport::Tcp), transport);
    let mut simulation = Simulation::from_plan(&plan, Seed(1), options).unwrap();
    simulation.run_until(Instant::from_secs(100));
    assert_eq!(simulation.faults(), Vec::<String>::new());
    simulation.result().flows["download"].clone()
}

#[test]
fn losses_of_the_link_cost_a_told_sender_less_and_a_receiver_in_control_almost_nothing() {
    for damaged in [0.002, 0.01, 0.05] {
        let tcp = || TcpFlow::new(config());
        let plain = download(tcp().into(), damaged);
        let told = download(tcp().with_loss_notification().into(), damaged);
        let rcp = || RcpFlow::new(RcpConfig::from_tcp(&config()));
        let receiver = download(rcp().into(), damaged);
        let hearing = download(rcp().with_loss_notification().into(), damaged);
        let rates = [&plain, &told, &receiver, &hearing].map(|flow| flow.goodput_bps / 1e3);
        println!("{damaged}: TCP, TCP-ELN, RCP, RCP-ELN {rates:.0?} kbit/s");
        assert!(rates[1] > rates[0], "{damaged}: {rates:?}");
        assert!(rates[3] > rates[1] * 0.995, "{damaged}: {rates:?}");
        // Link rate less headers and what was damaged.
        assert!(rates[3] > 0.97 * 2e3 * (1448.0 / 1500.0) * (1.0 - damaged), "{damaged}: {rates:?}");
    }
}

#[test]
fn on_an_undamaged_path_notification_changes_nothing() {
    let tcp = || TcpFlow::new(config());
    let plain = download(tcp().into(), 0.0);
    let told = download(tcp().with_loss_notification().into(), 0.0);
    assert_eq!(plain.bytes, told.bytes);
    assert_eq!(plain.retransmitted_segments, told.retransmitted_segments);
}
