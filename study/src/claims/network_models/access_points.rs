//! Figure 51: access points of another network, used by those in range alone or by all over peers; slot by slot.

use super::nets::{HOSTS, Net, SIDE_M, nets, traffic, waypoint};
use super::{clearly_more, list, means, row};
use crate::claims::plan::Scope;
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use prismux_cellular::DualModeSettings;
use prismux_cellular::simulation::{Access, Outcome, Setup};
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Rate};
use prismux_wireless::Position;

const MOST_POINTS: usize = 6;
const RATES_KBPS: [u64; 4] = [16, 32, 48, 64];

/// `points` access points in the middle of random squares of a 3 x 3 division.
fn setup(net: &Net, points: usize, kbps: u64, scope: &Scope) -> Setup {
    let mut random = Seed(net.cell.places[0].x_m.to_bits()).stream("access points");
    let mut squares: Vec<usize> = (0..9).collect();
    for last in (1..9).rev() {
        squares.swap(last, random.below(last as u64 + 1) as usize);
    }
    let middle = |index: usize| (index as f64 + 0.5) * SIDE_M / 3.0;
    let place = |&square: &usize| Position { x_m: middle(square % 3), y_m: middle(square / 3) };
    Setup {
        access_points: squares.iter().take(points).map(place).collect(),
        movement: Some(waypoint(10.0)),
        duration: Duration::from_secs(if scope.quick { 50 } else { 100 }),
        ..net.setup(1.0, traffic(Some(kbps)))
    }
}

fn relay(kbps: u64) -> Access {
    Access::DualMode { settings: DualModeSettings::default(), reference: Rate::from_bps(kbps * 950) }
}

/// Share of the time in which the base station itself sent or received, in percent.
fn direct(outcome: &Outcome) -> f64 {
    100.0 * outcome.direct as f64 / outcome.slots as f64
}

/// A quantity of the cell alone, of interworking, of the relay, for each network.
fn three(
    networks: &[Net],
    points: usize,
    kbps: u64,
    scope: &Scope,
    of: fn(&Outcome) -> f64,
) -> [Vec<f64>; 3] {
    let run = |access: Access, points: usize| -> Vec<f64> {
        networks.iter().map(|net| of(&net.run(&setup(net, points, kbps, scope), access))).collect()
    };
    [run(Access::Interworking, 0), run(Access::Interworking, points), run(relay(kbps), points)]
}

pub(super) fn judge(scope: &Scope) -> (Vec<Finding>, Vec<Series>) {
    let networks = nets(scope.seeds, Net::connected);
    let columns = [
        "cell alone",
        "one hop to an access point",
        "relay to an access point",
        "relay, to the base station",
    ];
    let mut usage = Series::new("access points", "channel around the base station in use, %", &columns);
    let columns = &columns[..3];
    usage.experiment = "51a channel around the base station, 16 kbit/s per flow".to_string();
    let percent: fn(&Outcome) -> f64 = |outcome| 100.0 * outcome.channel_use_at_base();
    let by_points: Vec<[Vec<f64>; 3]> =
        (1..=MOST_POINTS).map(|points| three(&networks, points, 16, scope, percent)).collect();
    let mut own = Vec::new();
    for (points, [alone, one_hop, relayed]) in (1..).zip(&by_points) {
        let run = |net: &Net| direct(&net.run(&setup(net, points, 16, scope), relay(16)));
        own = networks.iter().map(run).collect::<Vec<f64>>();
        row(&mut usage, points, [alone, one_hop, relayed, &own]);
    }
    let mut throughput = Series::new("target, kbit/s", "throughput of a flow, kbit/s", columns);
    throughput.experiment = "51b three access points".to_string();
    let per_flow: fn(&Outcome) -> f64 = |outcome| outcome.total_bps() / 1e3 / HOSTS as f64;
    let by_rate: Vec<[Vec<f64>; 3]> =
        RATES_KBPS.iter().map(|&kbps| three(&networks, 3, kbps, scope, per_flow)).collect();
    for (kbps, [alone, one_hop, relayed]) in RATES_KBPS.iter().zip(&by_rate) {
        row(&mut throughput, kbps, [alone, one_hop, relayed]);
    }
    (findings(&by_points, &own, &by_rate), vec![usage, throughput])
}

fn findings(by_points: &[[Vec<f64>; 3]], own: &[f64], by_rate: &[[Vec<f64>; 3]]) -> Vec<Finding> {
    let ([Some(first), Some(last)], Some(fastest)) = ([by_points.first(), by_points.last()], by_rate.last())
    else {
        return Vec::new();
    };
    let column =
        |index: usize| -> Vec<Vec<f64>> { by_points.iter().map(|three| three[index].clone()).collect() };
    let (one_hop, relayed) = (means(&column(1)), means(&column(2)));
    let falls = clearly_more(&first[1], &last[1]) && clearly_more(&first[2], &last[2]);
    let fall = |use_at: &[Vec<f64>; 3], less: &[Vec<f64>; 3], index: usize| -> Vec<f64> {
        use_at[index].iter().zip(&less[index]).map(|(most, least)| most - least).collect()
    };
    let faster = clearly_more(&fall(first, last, 2), &fall(first, last, 1));
    let rising = by_rate.iter().skip(1);
    let ordered = rising
        .clone()
        .all(|[alone, one_hop, relayed]| clearly_more(relayed, one_hop) && clearly_more(one_hop, alone));
    let columns = |index: usize| means(&by_rate.iter().map(|three| three[index].clone()).collect::<Vec<_>>());
    vec![
        Finding::values("MM-001", first[0].clone()),
        Finding::values("MM-002", last[1].clone()).because(
            "six discs of 250 m cover up to 52 % of the cell, and what they cover does not use its channel: \
             65 % would need hosts in their range that are served by the cell all the same",
        ),
        Finding::values("MM-003", last[2].clone()).because(format!(
            "peers relay on the cell's channel, as the text has it, and hops heard at the base station count, \
             those to an access point beside it among them; were all relaying on the WLAN, as the figure's \
             label has it, {} % would remain, for flows that miss their target among peers",
            list(&means(&[own.to_vec()]))
        )),
        Finding::shape(
            "MM-004",
            falls && faster,
            format!("1 to 6 access points: one hop {} %, relay {} %", list(&one_hop), list(&relayed)),
        ),
        Finding::values("MM-005", fastest[0].clone()).because("at 64 kbit/s"),
        Finding::shape(
            "MM-006",
            ordered,
            format!(
                "at 16, 32, 48, 64 kbit/s: relay {}, one hop {}, cell alone {}",
                list(&columns(2)),
                list(&columns(1)),
                list(&columns(0))
            ),
        ),
    ]
}
