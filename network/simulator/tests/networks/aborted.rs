//! Downloads that their receiver cuts off, as a closed browser tab does, cost the ones that follow nothing.
use crate::uplinks::{Uplinks, goodput, uplinks};
use prismux_simulator::FlowId;
use prismux_units::Duration;

const DOWNLOADS: u64 = 10;
const SECONDS: u64 = 4;

/// Ten downloads in a row, each cut off after four seconds, then ten more without a pause between them.
#[test]
fn ten_aborted_downloads_do_not_slow_down_the_next_ones() {
    aborted(uplinks);
}

#[test]
fn nor_where_members_return_receipts() {
    aborted(|| uplinks().with_receipts());
}

fn aborted(uplinks: impl Fn() -> Uplinks) {
    for by_receiver in [true, false] {
        let mut uplinks = uplinks();
        let flows: Vec<FlowId> = (0..2 * DOWNLOADS)
            .map(|index| uplinks.download(&format!("download{index}"), Duration::from_secs(SECONDS * index)))
            .collect();
        if !by_receiver {
            for (index, &flow) in (1..).zip(&flows) {
                uplinks.plan[flow].stop = Some(Duration::from_secs(SECONDS * index));
            }
        }
        let proxy = uplinks.proxy;
        let mut simulation = uplinks.build();
        let span = Duration::from_secs(SECONDS);
        let mut measure = |&flow: &FlowId| {
            let rate = goodput(&mut simulation, flow, span);
            if by_receiver {
                simulation.reset_flow(flow);
            }
            rate
        };
        let rates: Vec<f64> = flows.iter().map(&mut measure).collect();
        for (index, rate) in rates.iter().enumerate() {
            assert!(*rate > 0.9 * rates[0], "download {index}, by receiver {by_receiver}: {rates:?}");
        }
        simulation.run_until(simulation.now() + Duration::from_secs(7));
        let in_flight: Vec<u64> =
            simulation.proxy_links(proxy).iter().map(|link| link.in_flight_bytes).collect();
        assert_eq!(in_flight, [0, 0], "nothing of a dead connection stays on a link's books");
        let lost = simulation.proxy_links(proxy).iter().map(|link| link.loss).fold(0.0, f64::max);
        assert!(lost < 0.01, "no link is blamed: {lost}");
        assert_eq!(simulation.faults(), Vec::<String>::new());
    }
}
