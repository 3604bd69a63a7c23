//! Passive opens: many flows, few entries.
use prismux_endpoint::Endpoint;
use prismux_tcp::{Connection, Listener, ListenerEvent, SegmentIn, State, TcpConfig};
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, FlowKey, SeqNumber, TcpFlags, TcpHeader};

fn flow(port: u16) -> FlowKey {
    FlowKey {
        source: [10, 0, 0, 1].into(),
        destination: [10, 0, 0, 2].into(),
        source_port: port,
        destination_port: 80,
        protocol: 6,
    }
}

fn bare(flags: TcpFlags, port: u16) -> SegmentIn {
    let header = TcpHeader {
        source_port: port,
        destination_port: 80,
        seq: SeqNumber(100),
        ack: SeqNumber(500),
        flags,
        window: 1000,
        ..TcpHeader::default()
    };
    SegmentIn { header, payload_bytes: 0, ecn: Ecn::NotEct }
}

fn listener(capacity: usize) -> Listener {
    Listener::new(TcpConfig::modern(), capacity, 42)
}

fn next_event(listener: &mut Listener) -> Option<(FlowKey, Box<Connection>)> {
    listener.poll_event().map(|ListenerEvent::Accepted { flow, connection, .. }| (flow, connection))
}

#[test]
fn a_completed_handshake_hands_over_an_established_connection() {
    let now = Instant::ZERO;
    let mut listener = listener(4);
    let mut client = Connection::connect(TcpConfig::modern(), 1234, 80, SeqNumber(7), now);
    let syn = client.poll_transmit(now).unwrap();
    listener.handle_input(now, (flow(1234), syn.into()));
    let (to, syn_ack) = listener.poll_transmit(now).unwrap();
    assert_eq!(to, flow(1234).reversed());
    assert_eq!(listener.half_open(), 1);
    assert!(next_event(&mut listener).is_none());

    client.handle_input(now, syn_ack.into());
    let ack = client.poll_transmit(now).unwrap();
    listener.handle_input(now, (flow(1234), ack.into()));
    let (from, server) = next_event(&mut listener).unwrap();
    assert_eq!((from, server.state()), (flow(1234), State::Established));
    assert_eq!((listener.half_open(), listener.evicted()), (0, 0));
}

#[test]
fn a_flood_of_syns_is_bounded_and_the_newest_get_through() {
    let now = Instant::ZERO;
    let mut listener = listener(3);
    for port in 1..=1000 {
        listener.handle_input(now, (flow(port), bare(TcpFlags::SYN, port)));
        let (to, answer) = listener.poll_transmit(now).unwrap();
        assert_eq!(to.destination_port, port);
        assert!(answer.header.flags.contains(TcpFlags::SYN | TcpFlags::ACK));
        assert!(listener.half_open() <= 3);
    }
    assert_eq!(listener.evicted(), 997);
    // One that answers within the flood is still served.
    let mut client = Connection::connect(TcpConfig::modern(), 2000, 80, SeqNumber(7), now);
    let syn = client.poll_transmit(now).unwrap();
    listener.handle_input(now, (flow(2000), syn.into()));
    let (_, syn_ack) = listener.poll_transmit(now).unwrap();
    listener.handle_input(now, (flow(2001), bare(TcpFlags::SYN, 2001)));
    listener.poll_transmit(now).unwrap();
    client.handle_input(now, syn_ack.into());
    let ack = client.poll_transmit(now).unwrap();
    listener.handle_input(now, (flow(2000), ack.into()));
    assert_eq!(next_event(&mut listener).unwrap().0, flow(2000));
}

#[test]
fn segments_of_no_connection_are_reset_except_resets() {
    // RFC 9293 section 3.10.7.2.
    let now = Instant::ZERO;
    let mut listener = listener(3);
    listener.handle_input(now, (flow(9), bare(TcpFlags::ACK, 9)));
    let (_, reset) = listener.poll_transmit(now).unwrap();
    assert_eq!((reset.header.flags, reset.header.seq), (TcpFlags::RST, SeqNumber(500)));
    listener.handle_input(now, (flow(9), bare(TcpFlags::FIN, 9)));
    let (_, reset) = listener.poll_transmit(now).unwrap();
    assert_eq!((reset.header.flags, reset.header.ack), (TcpFlags::RST | TcpFlags::ACK, SeqNumber(101)));
    listener.handle_input(now, (flow(9), bare(TcpFlags::RST, 9)));
    assert!(listener.poll_transmit(now).is_none());
    assert_eq!(listener.half_open(), 0);
}

#[test]
fn an_unanswered_syn_ack_is_repeated_and_then_forgotten() {
    let mut listener = Listener::new(TcpConfig { syn_retries: 2, ..TcpConfig::modern() }, 3, 42);
    listener.handle_input(Instant::ZERO, (flow(9), bare(TcpFlags::SYN, 9)));
    let mut sent = Vec::new();
    let mut now = Instant::ZERO;
    loop {
        while listener.poll_transmit(now).is_some() {
            sent.push(now - Instant::ZERO);
        }
        let Some(deadline) = listener.poll_timeout() else { break };
        now = deadline.at;
        listener.handle_timeout(now);
    }
    assert_eq!(sent, [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(3)]);
    assert_eq!((listener.half_open(), now), (0, Instant::from_secs(7)));
}

#[test]
fn a_reset_ends_a_half_open_connection() {
    let now = Instant::ZERO;
    let mut listener = listener(3);
    listener.handle_input(now, (flow(9), bare(TcpFlags::SYN, 9)));
    let mut reset = bare(TcpFlags::RST, 9);
    reset.header.seq += 1;
    listener.handle_input(now, (flow(9), reset));
    assert_eq!(listener.half_open(), 0);
}

#[test]
fn initial_sequence_numbers_differ_by_flow_and_secret_and_advance_with_time() {
    // RFC 6528 section 3.
    let initial = |secret, port, now| {
        let mut listener = Listener::new(TcpConfig::modern(), 3, secret);
        listener.handle_input(now, (flow(port), bare(TcpFlags::SYN, port)));
        listener.poll_transmit(now).unwrap().1.header.seq
    };
    let base = initial(1, 9, Instant::ZERO);
    assert_ne!(base, initial(1, 10, Instant::ZERO));
    assert_ne!(base, initial(2, 9, Instant::ZERO));
    assert_eq!(initial(1, 9, Instant::from_millis(4)).distance_from(base), 1000);
}
