//! Hostile segments: random headers, many of them nearly right, thrown at a connection in every state.
use crate::segment;
use prismux_endpoint::Endpoint;
use prismux_tcp::{Connection, Listener, State, TcpConfig, TcpProfile};
use prismux_units::{ByteCount, Duration, Instant};
use prismux_wire::{
    DeliveryOrder, Ecn, FlowKey, KeepFactor, LossReport, SackBlock, SackBlocks, SeqNumber, TcpFlags,
    TcpHeader, TcpOptions, Timestamps,
};
use proptest::prelude::*;

const OURS: SeqNumber = SeqNumber(u32::MAX - 500);
const THEIRS: SeqNumber = SeqNumber(u32::MAX - 700);

/// Near `base`, or anywhere.
fn sequence(base: SeqNumber) -> impl Strategy<Value = SeqNumber> {
    prop_oneof![
        4 => (0..6u32).prop_map(move |n| base + n),
        4 => (0..20_000u32).prop_map(move |n| base + n),
        2 => (0..3000u32).prop_map(move |n| base - n),
        1 => any::<u32>().prop_map(SeqNumber),
    ]
}

fn options() -> impl Strategy<Value = TcpOptions> {
    let blocks = prop::collection::vec((sequence(OURS), sequence(OURS)), 0..5);
    let report = prop::option::of((sequence(OURS), any::<(u8, u8, u16)>()));
    let order = prop::option::of(any::<(Option<u8>, Option<u16>, bool)>());
    let syn = (any::<Option<u16>>(), any::<Option<u8>>(), any::<bool>());
    let stamps = prop::option::of((0..5000u32, prop_oneof![Just(0u32), 0..5000u32, any::<u32>()]));
    let all = (syn, stamps, blocks, report, order);
    all.prop_map(|((mss, window_scale, sack_permitted), stamps, blocks, report, order)| {
        let mut sack = SackBlocks::EMPTY;
        for (start, end) in blocks {
            sack.push(SackBlock { start, end });
        }
        TcpOptions {
            mss,
            window_scale,
            sack_permitted,
            timestamps: stamps.map(|(value, echo)| Timestamps { value, echo }),
            sack,
            loss_report: report.map(|(lost, (link, flags, keep))| LossReport {
                lost,
                link,
                flags,
                keep: KeepFactor(keep),
            }),
            handoff: None,
            delivery_order: order.map(|(adsn, tpsn, out_of_order)| DeliveryOrder {
                adsn,
                tpsn,
                out_of_order,
            }),
            lost_by_link: false,
        }
    })
}

fn header() -> impl Strategy<Value = TcpHeader> {
    let flags = prop_oneof![
        5 => Just(TcpFlags::ACK),
        1 => Just(TcpFlags::ACK | TcpFlags::FIN),
        1 => Just(TcpFlags::SYN | TcpFlags::ACK),
        3 => any::<u8>().prop_map(TcpFlags),
    ];
    (sequence(THEIRS), sequence(OURS), flags, any::<(u16, u16)>(), options()).prop_map(
        |(seq, ack, flags, (window, urgent), options)| TcpHeader {
            source_port: 1,
            destination_port: 2,
            seq,
            ack,
            flags,
            window,
            urgent,
            options,
        },
    )
}

#[derive(Debug, Clone)]
enum Step {
    Segment(TcpHeader, u32, u8),
    Wait(u64),
    Write(u64),
    Read(u64),
    Close,
    Abort,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => (header(), prop_oneof![Just(0u32), 0..3000u32, 0..70_000u32], 0..4u8)
            .prop_map(|(header, bytes, ecn)| Step::Segment(header, bytes, ecn)),
        3 => (0..3000u64).prop_map(Step::Wait),
        2 => (0..20_000u64).prop_map(Step::Write),
        1 => (0..20_000u64).prop_map(Step::Read),
        1 => Just(Step::Close),
        1 => (0..20u8).prop_map(|n| if n == 0 { Step::Abort } else { Step::Wait(1) }),
    ]
}

fn drain(connection: &mut Connection, now: Instant) {
    for count in 0.. {
        let Some(segment) = connection.poll_transmit(now) else { break };
        assert!(segment.header.options.fits());
        assert!(count < 1000, "one event leads to a bounded burst");
    }
    while connection.poll_event().is_some() {}
}

fn play(mut connection: Connection, steps: Vec<Step>) {
    let mut now = Instant::from_secs(1);
    let mut edge = 0;
    drain(&mut connection, now);
    for step in steps {
        match step {
            Step::Segment(header, bytes, ecn) => {
                let mut input = segment(header, bytes);
                input.ecn = Ecn::from_bits(ecn);
                connection.handle_input(now, input);
            }
            Step::Wait(millis) => {
                now += Duration::from_millis(millis);
                connection.handle_timeout(now);
            }
            Step::Write(bytes) => connection.write(bytes),
            Step::Read(bytes) => connection.read(bytes),
            Step::Close => connection.close(),
            Step::Abort => connection.abort(),
        }
        drain(&mut connection, now);
        assert!(connection.receive_window_edge() >= edge, "the right edge never moves left");
        assert!(connection.stream_acked() <= connection.stream_written());
        edge = connection.receive_window_edge();
        if connection.state() == State::Closed {
            assert_eq!(connection.poll_timeout(), None);
        }
    }
}

fn config() -> impl Strategy<Value = TcpConfig> {
    (0..3usize, any::<[bool; 3]>(), 1000..200_000u64, 1..5u32).prop_map(|(profile, on, buffer, ranges)| {
        let mut config = TcpProfile::ALL[profile].config();
        config.timestamps &= on[0];
        config.ecn = on[1];
        config.consume_on_arrival = on[2];
        config.receive_buffer = ByteCount::new(buffer);
        config.max_out_of_order_ranges = ranges;
        config
    })
}

proptest! {
    #![proptest_config(prismux_properties::cases(400))]

    #[test]
    fn garbage_never_panics_an_opener(config in config(), steps in prop::collection::vec(step(), 0..60)) {
        play(Connection::connect(config, 2, 1, OURS, Instant::from_secs(1)), steps);
    }

    #[test]
    fn garbage_never_panics_an_established_connection(
        config in config(),
        mut syn in options(),
        window in any::<u16>(),
        steps in prop::collection::vec(step(), 0..100),
    ) {
        syn.timestamps = syn.timestamps.map(|t| Timestamps { value: t.value / 2, ..t });
        let now = Instant::from_secs(1);
        let syn = TcpHeader { seq: THEIRS, flags: TcpFlags::SYN, window, options: syn, ..TcpHeader::default() };
        let mut connection = Connection::accept(config, &syn, OURS, now);
        drain(&mut connection, now);
        let (seq, number) = (THEIRS + 1, OURS + 1);
        let mut ack = TcpHeader { seq, ack: number, flags: TcpFlags::ACK, window, ..TcpHeader::default() };
        ack.options.timestamps = syn.options.timestamps;
        connection.handle_input(now, segment(ack, 0));
        prop_assert_eq!(connection.state(), State::Established);
        play(connection, steps);
    }

    #[test]
    fn garbage_never_panics_a_listener_nor_fills_it(
        headers in prop::collection::vec((header(), 0..2000u32, 0..6u16, 0..2000u64), 0..60),
    ) {
        let mut now = Instant::from_secs(1);
        let mut listener = Listener::new(TcpConfig::modern(), 3, 7);
        for (mut header, bytes, port, wait) in headers {
            now += Duration::from_millis(wait);
            listener.handle_timeout(now);
            header.source_port = port;
            let flow = FlowKey {
                source: [10, 0, 0, 1].into(),
                destination: [10, 0, 0, 2].into(),
                source_port: port,
                destination_port: 2,
                protocol: 6,
            };
            listener.handle_input(now, (flow, segment(header, bytes)));
            while listener.poll_transmit(now).is_some() {}
            while listener.poll_event().is_some() {}
            prop_assert!(listener.half_open() <= 3);
        }
    }
}
