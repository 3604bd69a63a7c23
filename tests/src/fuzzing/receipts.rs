//! Receipts of any content, and a meter fed with them.
use prismux_endpoint::Endpoint;
use prismux_receipts::{Arrival, EcnCounts, LinkMeter, NumberRange, Receipt};
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// A receipt: what is accepted can be written again and read back as the same value.
pub fn receipt(data: &[u8]) {
    let Ok(receipt) = Receipt::parse(data) else { return };
    let mut out = Vec::new();
    receipt.emit(&mut out);
    assert!(out.len() <= data.len(), "it is written in the shortest form");
    assert_eq!(Receipt::parse(&out), Ok(receipt));
}

/// Receipts, each behind its length and the milliseconds before it, fed to a meter that sends all the while. It must
/// not panic, and its books must stay in order.
pub fn meter(data: &[u8]) {
    let mut now = Instant::from_secs(1);
    let mut meter = LinkMeter::new(1);
    let mut rest = data;
    while let [length, ms, tail @ ..] = rest {
        let (bytes, next) = tail.split_at(usize::from(*length).min(tail.len()));
        rest = next;
        now += Duration::from_millis(u64::from(*ms));
        for _ in 0..8 {
            meter.send(now, 1500, None);
        }
        if let Ok(receipt) = Receipt::parse(bytes) {
            meter.handle_input(now, &Receipt { epoch: 1, ..receipt });
        }
        if meter.poll_timeout().is_some_and(|deadline| deadline.at <= now) {
            meter.handle_timeout(now);
        }
        while meter.poll_event().is_some() {}
        let (counters, estimate) = (*meter.counters(), meter.estimate(now));
        let judged = counters.delivered_packets + counters.lost_packets + counters.forgotten_packets;
        assert_eq!(counters.sent_packets, judged + estimate.in_flight_packets);
        assert!((0.0..=1.0).contains(&estimate.loss), "{estimate:?}");
    }
}

/// A receipt that names packets `first..=last`.
fn naming(number: u64, first: u32, last: u32) -> Receipt {
    let written_at = Duration::from_millis(20 + 10 * number);
    Receipt {
        epoch: 1,
        number,
        written_at,
        ecn: number.is_multiple_of(3).then_some(EcnCounts { ect0: 5, ect1: 0, ce: number }),
        recovered_packets: number / 4,
        ranges: vec![
            NumberRange { first: SeqNumber(last - 1), last: SeqNumber(last) },
            NumberRange { first: SeqNumber(first), last: SeqNumber(last - 3) },
        ],
        arrivals: vec![
            Arrival { number: SeqNumber(last), at: written_at },
            Arrival { number: SeqNumber(first), at: written_at - Duration::from_millis(5) },
        ],
    }
}

fn receipts() -> impl Iterator<Item = Vec<u8>> {
    (0..8).map(|number| {
        let mut out = Vec::new();
        naming(u64::from(number), 8 * number, 8 * number + 7).emit(&mut out);
        out
    })
}

/// Receipts of every shape.
pub(super) fn receipt_seeds() -> Vec<Vec<u8>> {
    receipts().collect()
}

/// Conversations of receipts that fit each other.
pub(super) fn meter_seeds() -> Vec<Vec<u8>> {
    let program =
        |step: u8| receipts().flat_map(|bytes| [vec![bytes.len() as u8, step], bytes].concat()).collect();
    [1, 10, 200].map(program).to_vec()
}
