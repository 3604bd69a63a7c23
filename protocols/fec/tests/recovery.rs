//! What is lost and made good.
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_fec::{
    Arrived, Decoder, Encoder, EncoderConfig, ProtectedLink, Protection, ReedSolomon, RepairHeader, Sent,
    Shard,
};
use prismux_receipts::{Arrived as Receipted, LinkMeter, ReceiptWriter, WriterConfig};
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, SeqNumber};
use proptest::prelude::*;

/// A packet or a repair, in the order of sending.
type Sending = (SeqNumber, Arrived<Vec<u8>, Vec<u8>>);

fn packets() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(any::<u8>(), 1..200), 1..32)
}

/// One block of these packets with its repairs, numbered from `first` on.
fn block(first: SeqNumber, packets: &[Vec<u8>], loss: f64) -> Vec<Sending> {
    let config = EncoderConfig { block_packets: packets.len(), ..EncoderConfig::default() };
    let mut encoder = Encoder::new(config, ReedSolomon::default());
    encoder.protect(Protection::against(loss));
    let mut all = Vec::new();
    for (offset, inner) in (0..).zip(packets) {
        let number = first + offset;
        let packet = Shard { protocol: 0x0800, order: None, inner }.emit();
        encoder.handle_input(Instant::ZERO, Sent { number, packet: packet.clone() });
        all.push((number, Arrived::Packet { number, packet }));
    }
    let block = encoder.poll_transmit(Instant::ZERO).expect("the block is full");
    for (offset, symbol) in (packets.len() as u32..).zip(block.symbols) {
        let number = first + offset;
        all.push((number, Arrived::Repair { number, header: block.header, symbol }));
    }
    all
}

proptest! {
    #![proptest_config(prismux_properties::cases(200))]

    #[test]
    fn as_many_losses_as_repairs_leave_every_packet_once_with_its_bytes(
        packets in packets(), first in any::<u32>(), lost in any::<prop::sample::Index>(), seed in any::<u64>(),
    ) {
        let mut sendings = block(SeqNumber(first), &packets, 0.03);
        let repairs = sendings.len() - packets.len();
        let mut random = Seed(seed).stream("order");
        // In any order, and without as many as there are repairs, at most.
        for end in (1..sendings.len()).rev() {
            sendings.swap(end, random.below(end as u64 + 1) as usize);
        }
        sendings.truncate(sendings.len() - lost.index(repairs + 1));
        let mut decoder = Decoder::new(ReedSolomon::default());
        let mut got = vec![0; packets.len()];
        let mut note = |number: SeqNumber, packet: &[u8]| {
            let place = number.distance_from(SeqNumber(first)) as usize;
            got[place] += 1;
            assert_eq!(Shard::parse(packet).unwrap().inner, packets[place]);
        };
        for (number, arrived) in sendings {
            if let Arrived::Packet { packet, .. } = &arrived && !decoder.is_late(number) {
                note(number, packet);
            }
            decoder.handle_input(Instant::ZERO, arrived);
            while let Some(recovered) = decoder.poll_transmit(Instant::ZERO) {
                note(recovered.number, &recovered.packet);
            }
        }
        prop_assert!(got.iter().all(|&times| times == 1), "{got:?}");
    }

    #[test]
    fn what_is_written_is_read(
        inner in prop::collection::vec(any::<u8>(), 0..100), order in prop::option::of(any::<u32>()),
        padding in 0..9_usize,
    ) {
        let shard = Shard { protocol: 0x86dd, order, inner: &inner };
        let mut bytes = shard.emit();
        bytes.resize(bytes.len() + padding, 0);
        prop_assert_eq!(Shard::parse(&bytes), Ok(shard));
    }
}

#[test]
fn more_losses_than_repairs_give_nothing_back() {
    let packets: Vec<_> = (0..16_u8).map(|byte| vec![byte; 50]).collect();
    let mut decoder = Decoder::new(ReedSolomon::default());
    for (number, arrived) in block(SeqNumber(7), &packets, 0.01) {
        if ![SeqNumber(8), SeqNumber(11), SeqNumber(20)].contains(&number) {
            decoder.handle_input(Instant::ZERO, arrived);
        }
    }
    assert_eq!(decoder.poll_transmit(Instant::ZERO), None);
    assert_eq!(decoder.counters().recovered_packets, 0);
}

/// A link with a delay and independent losses, measured and protected.
struct World {
    meter: LinkMeter,
    link: ProtectedLink<ReedSolomon>,
    writer: ReceiptWriter,
    decoder: Decoder<ReedSolomon>,
    random: RandomStream,
    loss: f64,
    /// What is on its way to the far end, and back.
    there: Vec<(Instant, Sending)>,
    back: Vec<(Instant, prismux_receipts::Receipt)>,
    sent: u64,
    delivered: u64,
    repairs: u64,
}

const DELAY: Duration = Duration::from_millis(30);

impl World {
    fn new(loss: f64, seed: u64) -> Self {
        Self {
            meter: LinkMeter::new(1),
            link: ProtectedLink::new(EncoderConfig::default(), ReedSolomon::default()),
            writer: ReceiptWriter::new(WriterConfig::default(), 1, Instant::ZERO),
            decoder: Decoder::new(ReedSolomon::default()),
            random: Seed(seed).stream("losses"),
            loss,
            there: Vec::new(),
            back: Vec::new(),
            sent: 0,
            delivered: 0,
            repairs: 0,
        }
    }

    fn send(&mut self, now: Instant, sending: Sending) {
        if !self.random.chance(self.loss) {
            self.there.push((now + DELAY, sending));
        }
    }

    fn step(&mut self, now: Instant) {
        let number = self.meter.send(now, 1500, None);
        let packet = vec![self.sent as u8; 40];
        self.link.sent(now, &mut self.meter, number, || packet.clone());
        self.sent += 1;
        self.send(now, (number, Arrived::Packet { number, packet }));
        while let Some(block) = self.link.poll(now, &mut self.meter) {
            let (header, repairs): (RepairHeader, usize) = (block.header, block.symbols.len());
            for symbol in block.symbols {
                let number = self.meter.send(now, 1520, None);
                self.repairs += 1;
                self.send(now, (number, Arrived::Repair { number, header, symbol }));
            }
            self.link.repaired(&mut self.meter, repairs);
        }
        let is_there = |(at, _): &mut (Instant, Sending)| *at <= now;
        for (_, (number, arrived)) in self.there.extract_if(.., is_there) {
            let arrival = Receipted { number, bytes: 1500, ecn: Ecn::NotEct };
            self.writer.handle_input(now, arrival);
            self.delivered += u64::from(matches!(arrived, Arrived::Packet { .. }));
            self.decoder.handle_input(now, arrived);
            while let Some(recovered) = self.decoder.poll_transmit(now) {
                self.delivered += 1;
                self.writer.recovered(now, recovered.number);
            }
        }
        while let Some(receipt) = self.writer.poll_transmit(now) {
            self.back.push((now + DELAY, receipt));
        }
        let is_back = |(at, _): &mut (Instant, prismux_receipts::Receipt)| *at <= now;
        for (_, receipt) in self.back.extract_if(.., is_back) {
            self.meter.handle_input(now, &receipt);
            let estimate = self.meter.estimate(now);
            self.link.measured(&mut self.meter, &estimate);
        }
    }
}

#[test]
fn a_protected_link_leaves_less_than_a_twentieth_of_its_losses_and_is_known_to_lose_them() {
    for loss in [0.002, 0.01, 0.02] {
        let mut world = World::new(loss, 3);
        for packet in 0..40_000_u64 {
            world.step(Instant::ZERO + Duration::from_micros(600 * packet));
        }
        let under_way = world.meter.estimate(Instant::ZERO + Duration::from_secs(24)).in_flight_packets;
        let missing = (world.sent - world.delivered).saturating_sub(under_way) as f64 / world.sent as f64;
        assert!(missing < loss / 20.0, "of {loss}: {missing}");
        let share = world.repairs as f64 / world.sent as f64;
        assert!(share < 0.2, "of {loss}: {share}");
        let estimate = world.meter.estimate(Instant::ZERO + Duration::from_secs(24));
        assert!(estimate.loss < loss / 4.0, "{estimate:?}");
        let known = estimate.loss_before_repair / loss;
        assert!((0.5..1.6).contains(&known), "of {loss}: {estimate:?}");
        assert_eq!(world.meter.counters().spurious_losses, 0, "of {loss}");
    }
}

#[test]
fn a_link_that_loses_nothing_is_soon_left_alone() {
    let mut world = World::new(0.0, 1);
    for packet in 0..10_000_u64 {
        world.step(Instant::ZERO + Duration::from_micros(600 * packet));
    }
    assert!(world.repairs < 100, "{}", world.repairs);
    assert_eq!(world.link.deadline(), None);
}
