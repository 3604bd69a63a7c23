//! Receipts of any content: read or refused, and never believed beyond what was sent.
use prismux_endpoint::Endpoint;
use prismux_receipts::{Arrival, EcnCounts, LinkMeter, MAX_ARRIVALS, MAX_RANGES, NumberRange, Receipt};
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;
use proptest::prelude::*;

/// Receipts in the form that a writer gives them.
fn receipts() -> impl Strategy<Value = Receipt> {
    let gaps = prop::collection::vec((0..100_000_u32, 0..1_000_000_u32), 1..MAX_RANGES);
    let arrivals = prop::collection::vec((0..1000_u32, 0..1_000_000_u64), 0..MAX_ARRIVALS);
    let recovered = any::<u32>();
    let ecn = prop::option::of((any::<u16>(), any::<u32>(), 0..1_u64 << 62));
    let head = (any::<u32>(), any::<u32>(), 0..1_u64 << 62, 1_u64 << 40..1 << 50);
    (head, gaps, arrivals, ecn, recovered).prop_map(|(head, gaps, arrivals, ecn, recovered)| {
        let (epoch, highest, number, micros) = head;
        let mut last = SeqNumber(highest);
        let mut ranges = Vec::new();
        for (length, gap) in gaps {
            let first = last - length;
            ranges.push(NumberRange { first, last });
            last = first - gap - 2;
        }
        let mut at = Duration::from_micros(micros);
        let written_at = at;
        let arrival = |(below, before): (u32, u64)| {
            at = at - Duration::from_micros(before);
            Arrival { number: SeqNumber(highest) - below, at }
        };
        let arrivals = arrivals.into_iter().map(arrival).collect();
        let ecn = ecn.map(|(ect0, ect1, ce)| EcnCounts { ect0: ect0.into(), ect1: ect1.into(), ce });
        Receipt { epoch, number, written_at, ecn, recovered_packets: recovered.into(), ranges, arrivals }
    })
}

/// Receipts, each with the milliseconds and the packets sent before it.
fn conversations() -> impl Strategy<Value = Vec<(Receipt, u64, u32)>> {
    prop::collection::vec((receipts(), 0..300_u64, 0..100_u32), 1..30)
}

proptest! {
    #[test]
    fn what_is_written_is_read(receipt in receipts()) {
        let mut bytes = Vec::new();
        receipt.emit(&mut bytes);
        prop_assert_eq!(Receipt::parse(&bytes), Ok(receipt));
        for length in 0..bytes.len() {
            prop_assert!(Receipt::parse(&bytes[..length]).is_err());
        }
        bytes.push(0);
        prop_assert!(Receipt::parse(&bytes).is_err());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(receipt) = Receipt::parse(&bytes) {
            let mut again = Vec::new();
            receipt.emit(&mut again);
            prop_assert_eq!(Receipt::parse(&again), Ok(receipt));
        }
    }

    /// Nothing that a far end claims makes the books wrong: what was not sent is not delivered.
    #[test]
    fn any_receipts_leave_the_books_in_order(conversation in conversations()) {
        let (mut meter, mut now) = (LinkMeter::new(1), Instant::from_secs(5));
        let mut sent = 0;
        for (index, (receipt, millis, packets)) in conversation.into_iter().enumerate() {
            now += Duration::from_millis(millis);
            for _ in 0..packets {
                meter.send(now, 1500, None);
            }
            sent += u64::from(packets);
            // Half of them name numbers that may have been sent.
            let shift = receipt.highest().0.wrapping_sub(packets / 2);
            let near = |number: SeqNumber| if index % 2 == 0 { number - shift } else { number };
            let range = |range: &NumberRange| NumberRange { first: near(range.first), last: near(range.last) };
            let arrival = |arrival: &Arrival| Arrival { number: near(arrival.number), at: arrival.at };
            let forged = Receipt {
                epoch: 1,
                number: index as u64,
                ranges: receipt.ranges.iter().take(1).map(range).collect(),
                arrivals: receipt.arrivals.iter().take(2).map(arrival).collect(),
                ..receipt.clone()
            };
            meter.handle_input(now, &forged);
            if meter.poll_timeout().is_some_and(|deadline| deadline.at <= now) {
                meter.handle_timeout(now);
            }
            while meter.poll_event().is_some() {}
            let (counters, estimate) = (*meter.counters(), meter.estimate(now));
            let judged = counters.delivered_packets + counters.lost_packets + counters.forgotten_packets;
            prop_assert_eq!(counters.sent_packets, sent);
            prop_assert_eq!(sent, judged + estimate.in_flight_packets);
        }
    }
}
