//! Two TCP ends over a pipe that loses one packet in fifty: how to embed `prismux-tcp`, with its public API alone.
//!
//! Run with `cargo run -p prismux-tcp --example two_ends`.
#![expect(clippy::disallowed_macros, reason = "an example prints")]

use prismux_endpoint::random::{RandomStream, Seed};
use prismux_endpoint::{Drain, Endpoint, Output, expire};
use prismux_tcp::{ByteConnection, Connection, SegmentIn, TcpConfig};
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;
use std::collections::VecDeque;

const ONE_WAY: Duration = Duration::from_millis(20);
const BYTES: usize = 1_000_000;

/// One direction: packets on the way, each with its payload and its time of arrival.
type Pipe = VecDeque<(Instant, SegmentIn, Vec<u8>)>;

/// After every mutation of an end: what it sends goes into `pipe`, or is lost.
fn drain(end: &mut ByteConnection, now: Instant, pipe: &mut Pipe, losses: &mut RandomStream) {
    let mut drain = Drain::new();
    while let Some(output) = drain.next(end, now) {
        let Output::Transmit(segment) = output else { continue };
        let mut payload = vec![0; segment.payload_bytes as usize];
        end.payload(&segment, &mut payload).expect("what is sent is held");
        if !losses.chance(0.02) {
            pipe.push_back((now + ONE_WAY, segment.into(), payload));
        }
    }
}

fn main() {
    let (mut now, mut losses) = (Instant::ZERO, Seed(1).stream("losses"));
    let mut opening = Connection::connect(TcpConfig::modern(), 40_000, 80, SeqNumber(7), now);
    let syn = opening.poll_transmit(now).expect("a connection begins with its SYN");
    let answering = Connection::accept(TcpConfig::modern(), &syn.header, SeqNumber(9), now);
    let mut ends = [opening, answering].map(|connection| ByteConnection::new(connection, 1 << 20));
    let mut pipes = [Pipe::new(), Pipe::new()];
    let (data, mut received) = (vec![42; BYTES], Vec::new());
    ends[0].write(&data);
    while received.len() < BYTES {
        for (end, pipe) in ends.iter_mut().zip(&mut pipes) {
            drain(end, now, pipe, &mut losses);
        }
        let arrivals = pipes.iter().filter_map(|pipe| pipe.front()).map(|packet| packet.0);
        let deadlines = ends.iter().filter_map(Endpoint::poll_timeout).map(|deadline| deadline.at);
        now = arrivals.chain(deadlines).min().expect("something is always due").max(now);
        for (from, to) in [(0, 1), (1, 0)] {
            if pipes[from].front().is_some_and(|packet| packet.0 <= now)
                && let Some((_, segment, payload)) = pipes[from].pop_front()
            {
                ends[to].handle_input(now, (segment, &payload));
            } else {
                expire(&mut ends[to], now);
            }
        }
        let mut buffer = [0; 65_536];
        let count = ends[1].read(&mut buffer);
        received.extend_from_slice(&buffer[..count]);
    }
    let metrics = ends[0].connection().metrics();
    let resent = metrics.engine.counters.retransmitted_segments;
    println!("{} bytes in {now}, {resent} segments sent again", received.len());
    assert_eq!(received, data);
}
