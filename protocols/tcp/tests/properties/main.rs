//! Two connections over a channel that loses, reorders and duplicates: whatever it does, every byte arrives
//! once and in order, windows are respected, and both ends reach CLOSED.
mod channel;
mod garbage;
mod host;

use channel::{Channel, Weather};
use host::{Application, Host};
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_endpoint::{Endpoint, expire};
use prismux_tcp::engine::CongestionKind;
use prismux_tcp::{Connection, SegmentIn, TcpConfig, TcpProfile};
use prismux_units::{ByteCount, Duration, Instant};
use prismux_wire::SeqNumber;
use proptest::prelude::*;

/// Virtual time by which everything must be over.
const LIMIT: Instant = Instant::from_secs(48 * 3600);

struct World {
    hosts: Vec<Host>,
    channel: Channel,
    random: RandomStream,
    answer: (TcpConfig, SeqNumber, Application),
    now: Instant,
}

impl World {
    fn step(&mut self) -> bool {
        let turns = self.hosts.iter().filter(|h| h.wants_turn()).map(|h| h.next_turn);
        let timers = self.hosts.iter().filter_map(|h| h.tcp.poll_timeout()).map(|d| d.at);
        let Some(next) = turns.chain(timers).chain(self.channel.next_arrival()).min() else { return false };
        self.now = self.now.max(next);
        let now = self.now;
        while let Some(packet) = self.channel.arrival(now) {
            self.deliver(packet);
            self.drain();
        }
        for index in 0..self.hosts.len() {
            if expire(&mut self.hosts[index].tcp, now) {
                self.drain();
            }
            if self.hosts[index].wants_turn() && self.hosts[index].next_turn <= now {
                let host = &mut self.hosts[index];
                host.turn(now, &mut self.random);
                self.drain();
            }
        }
        true
    }

    fn deliver(&mut self, packet: channel::Packet) {
        let now = self.now;
        if packet.to < self.hosts.len() {
            self.hosts[packet.to].handle(now, packet.segment, &packet.payload);
        } else {
            let (config, initial, application) = self.answer.clone();
            let connection = Connection::accept(config, &packet.segment.header, initial, now);
            self.hosts.push(Host::answering(1, connection, application, &packet.segment));
        }
    }

    fn drain(&mut self) {
        for index in 0..self.hosts.len() {
            while let Some((segment, payload)) = self.hosts[index].transmit(self.now) {
                self.channel.send(self.now, 1 - index, segment, &payload);
            }
        }
    }
}

fn config() -> impl Strategy<Value = TcpConfig> {
    let switches =
        (any::<[bool; 7]>(), 0..3usize, prop_oneof![Just(2000u64), 4000..20_000u64, 20_000..300_000u64]);
    (switches, 88..1461u16, 0..20u8).prop_map(|((on, profile, receive_buffer), mss, quick)| {
        let mut config = TcpProfile::ALL[profile].config();
        config.sack &= on[0];
        config.timestamps &= on[1];
        config.window_scaling &= on[2];
        config.nagle = on[3];
        config.ecn = on[4];
        config.consume_on_arrival = false;
        config.delayed_ack = on[5].then_some(Duration::from_millis(40));
        if on[6] {
            config.engine.congestion = CongestionKind::Stp;
        }
        config.mss = mss;
        config.quick_ack_segments = quick;
        config.receive_buffer = ByteCount::new(receive_buffer);
        // The channel may be bad for long; giving up has tests of its own.
        config.give_up_after = Duration::MAX;
        config.syn_retries = 255;
        // So long that the last ACK gets through: else the other end can only learn of the end by a reset.
        config.time_wait = Duration::from_secs(12 * 3600);
        config
    })
}

fn application() -> impl Strategy<Value = Application> {
    (0..60_000u64, 1..8000usize, 1..8000usize, 1..50u64, 1000..100_000usize).prop_map(
        |(to_write, write_chunk, read_chunk, pause, send_buffer)| Application {
            to_write,
            write_chunk,
            read_chunk,
            pause: Duration::from_millis(pause),
            send_buffer,
        },
    )
}

fn weather() -> impl Strategy<Value = Weather> {
    (0..4u8, 0.0..0.2f64, 0.0..0.1f64, 0.0..0.3f64, 1..200u64, 0..100u64).prop_map(
        |(kind, loss, duplication, marking, delay, jitter)| Weather {
            loss: if kind & 1 == 1 { loss } else { 0.0 },
            duplication: if kind & 2 == 2 { duplication } else { 0.0 },
            marking,
            delay: Duration::from_millis(delay),
            jitter: Duration::from_millis(jitter * u64::from(kind > 0)),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100, ..prismux_properties::cases(150) })]

    #[test]
    fn every_byte_arrives_once_in_order_and_both_ends_close(
        configs in (config(), config()),
        applications in (application(), application()),
        weather in weather(),
        initial in any::<(u32, u32)>(),
        seed in any::<u64>(),
    ) {
        let random = Seed(seed).stream("application");
        let now = Instant::from_secs(1);
        let opener = Connection::connect(configs.0, 1000, 2000, SeqNumber(initial.0), now);
        let expected = [applications.1.to_write, applications.0.to_write];
        let mut world = World {
            hosts: vec![Host::new(0, opener, applications.0)],
            channel: Channel::new(weather, Seed(seed).stream("channel")),
            random,
            answer: (configs.1, SeqNumber(initial.1), applications.1),
            now,
        };
        world.drain();
        while world.step() {
            let late = || world.hosts.iter().map(|host| host.tcp.connection()).collect::<Vec<_>>();
            prop_assert!(world.now < LIMIT, "not over after {}: {:#?}", world.now, late());
            if world.hosts.len() == 2 && world.hosts.iter().all(Host::is_done) {
                break;
            }
        }
        prop_assert_eq!(world.hosts.len(), 2);
        for (host, expected) in world.hosts.iter_mut().zip(expected) {
            // What was still buffered at CLOSED.
            while host.tcp.readable() > 0 {
                host.turn(world.now, &mut world.random);
            }
            prop_assert_eq!(host.read, expected, "host {}", host.index);
            let status = host.tcp.status();
            prop_assert!(status.closed && status.peer_closed && !status.reset && !status.timed_out);
        }
    }
}

/// Used by the garbage tests as well: an established connection and its peer's next sequence number.
fn segment(header: prismux_wire::TcpHeader, payload_bytes: u32) -> SegmentIn {
    SegmentIn { header, payload_bytes, ecn: prismux_wire::Ecn::NotEct }
}
