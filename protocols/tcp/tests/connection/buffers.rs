//! The rings behind a connection with bytes.
use prismux_endpoint::Endpoint;
use prismux_tcp::buffer::{ReceiveBuffer, SendBuffer};
use prismux_tcp::{ByteConnection, Connection, State, TcpConfig, TcpProfile};
use prismux_units::{ByteCount, Instant};
use prismux_wire::SeqNumber;
use proptest::prelude::*;

#[test]
fn a_send_buffer_holds_what_is_not_acknowledged() {
    let mut buffer = SendBuffer::new(8);
    assert_eq!(buffer.write(b"abcdefghij"), 8);
    assert_eq!((buffer.room(), buffer.held()), (0, 8));
    buffer.acknowledge(5);
    assert_eq!(buffer.write(b"ijklm"), 5);
    let mut out = [0; 8];
    assert!(buffer.copy(5, &mut out));
    assert_eq!(&out, b"fghijklm");
    assert!(!buffer.copy(4, &mut out), "forgotten");
    assert!(!buffer.copy(6, &mut out), "not written yet");
}

#[test]
fn a_receive_buffer_fills_holes_and_reads_in_order() {
    let mut buffer = ReceiveBuffer::new(8);
    assert!(buffer.store(3, b"def"));
    assert_eq!(buffer.readable(), 0);
    assert!(buffer.store(0, b"abc"));
    buffer.complete(6);
    let mut out = [0; 4];
    assert_eq!(buffer.read(&mut out), 4);
    assert_eq!(&out, b"abcd");
    assert!(!buffer.store(3, b"x"), "already read");
    assert!(!buffer.store(12, b"x"), "beyond the buffer");
    assert!(buffer.store(6, b"ghijkl"));
    buffer.complete(12);
    let mut out = [0; 20];
    assert_eq!(buffer.read(&mut out), 8);
    assert_eq!(&out[..8], b"efghijkl");
}

proptest! {
    #[test]
    fn a_send_buffer_returns_what_was_written(
        capacity in 1..64usize,
        steps in prop::collection::vec((0..40usize, 0..40u64, 0..40usize), 0..50),
    ) {
        let mut buffer = SendBuffer::new(capacity);
        let (mut written, mut acknowledged) = (Vec::new(), 0);
        for (write, acknowledge, read) in steps {
            let bytes: Vec<u8> = (0..write).map(|n| (written.len() + n) as u8).collect();
            let taken = buffer.write(&bytes);
            prop_assert_eq!(taken, write.min(capacity - (written.len() - acknowledged)));
            written.extend_from_slice(&bytes[..taken]);
            acknowledged = (acknowledged + acknowledge as usize).min(written.len());
            buffer.acknowledge(acknowledged as u64);
            let end = written.len().min(acknowledged + read);
            let mut out = vec![0; end - acknowledged];
            prop_assert!(buffer.copy(acknowledged as u64, &mut out));
            prop_assert_eq!(&out[..], &written[acknowledged..end]);
        }
    }
}

fn exchange(a: &mut ByteConnection, b: &mut ByteConnection, now: Instant) {
    let mut payload = [0; 2000];
    loop {
        let mut quiet = true;
        while let Some(segment) = a.poll_transmit(now) {
            let bytes = a.payload(&segment, &mut payload).expect("held").to_vec();
            b.handle_input(now, (segment.into(), &bytes));
            quiet = false;
        }
        while let Some(segment) = b.poll_transmit(now) {
            let bytes = b.payload(&segment, &mut payload).expect("held").to_vec();
            a.handle_input(now, (segment.into(), &bytes));
            quiet = false;
        }
        if quiet {
            return;
        }
    }
}

#[test]
fn two_byte_connections_talk_and_part() {
    for profile in TcpProfile::ALL {
        let now = Instant::from_millis(1);
        let config = profile.config();
        let mut opener = Connection::connect(config.clone(), 1, 2, SeqNumber(3), now);
        let syn = opener.poll_transmit(now).expect("SYN");
        let answering = Connection::accept(config, &syn.header, SeqNumber(4), now);
        let (mut a, mut b) = (ByteConnection::new(opener, 1000), ByteConnection::new(answering, 1000));
        exchange(&mut a, &mut b, now);
        assert_eq!(a.write(b"what is it"), 10);
        exchange(&mut a, &mut b, now);
        let mut out = [0; 100];
        assert_eq!(b.read(&mut out), 10);
        assert_eq!(&out[..10], b"what is it");
        assert_eq!(b.write(b"a hop"), 5);
        b.close();
        exchange(&mut a, &mut b, now);
        assert_eq!(a.read(&mut out), 5);
        assert!(a.status().peer_closed && !a.status().closed);
        assert_eq!(b.write(b"more"), 0, "closed for writing");
        a.close();
        exchange(&mut a, &mut b, now);
        assert_eq!((a.state(), b.state()), (State::Closed, State::TimeWait), "{profile}");
    }
}

#[test]
fn a_window_that_nobody_reads_from_fits_the_buffer() {
    // Scaled right edges are rounded up with every ACK; the reserve holds what that lets in.
    for (receive_buffer, mss) in [(1 << 20, 1460), (100_000, 1460), (100_000, 100), (16 << 20, 1460)] {
        let now = Instant::from_millis(1);
        let config = TcpConfig { receive_buffer: ByteCount::new(receive_buffer), mss, ..TcpConfig::modern() };
        let mut opener = Connection::connect(config.clone(), 1, 2, SeqNumber(3), now);
        let syn = opener.poll_transmit(now).expect("SYN");
        let answering = Connection::accept(config, &syn.header, SeqNumber(4), now);
        let total = 2 * receive_buffer as usize;
        let (mut a, mut b) = (ByteConnection::new(opener, total), ByteConnection::new(answering, 1000));
        exchange(&mut a, &mut b, now);
        let bytes: Vec<u8> = (0..total).map(|n| ((n * 7) >> 3) as u8).collect();
        assert_eq!(a.write(&bytes), total);
        exchange(&mut a, &mut b, now);
        // Less than a segment or a unit of the scaled window may be left over.
        let filled = b.readable() as u64 + u64::from(mss).max(1 << 11);
        assert!(filled >= receive_buffer, "the window was filled: {}", b.readable());
        assert!(b.readable() as u64 <= b.connection().receive_buffer_bytes());
        let mut read = vec![0; b.readable()];
        assert_eq!(b.read(&mut read), read.len());
        assert!(read == bytes[..read.len()], "what was read is what was written");
    }
}

#[test]
fn each_change_of_status_is_told_once() {
    let now = Instant::from_millis(1);
    let mut opener = Connection::connect(TcpConfig::modern(), 1, 2, SeqNumber(3), now);
    let syn = opener.poll_transmit(now).expect("SYN");
    let answering = Connection::accept(TcpConfig::modern(), &syn.header, SeqNumber(4), now);
    let (mut a, mut b) = (ByteConnection::new(opener, 1000), ByteConnection::new(answering, 1000));
    assert_eq!(a.poll_event(), None);
    exchange(&mut a, &mut b, now);
    assert!(a.poll_event().is_some_and(|status| status.connected && !status.peer_closed));
    assert_eq!(a.poll_event(), None, "nothing has changed since");
    b.close();
    exchange(&mut a, &mut b, now);
    assert!(a.poll_event().is_some_and(|status| status.peer_closed));
    assert_eq!(a.poll_event(), None);
}
