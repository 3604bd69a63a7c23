//! Carrying out batches: each thread has buffers and messages of its own.
use super::batch::{Batch, Exit, Failure};
use prismux_linux::batch::BatchSender;
use prismux_linux::event_loop::BATCH_PACKETS;
use prismux_linux::packet::PacketPool;
use prismux_sealed::OVERHEAD_BYTES;
use std::sync::Arc;

/// What a thread carries batches out with.
#[derive(Default)]
pub(crate) struct Hand(Vec<Socket>);

struct Socket {
    exit: Arc<Exit>,
    pool: PacketPool,
    sender: BatchSender,
}

impl Hand {
    /// Seals and sends what is in a batch, in order. What could not leave is in its failures then.
    pub fn carry_out(&mut self, batch: &mut Batch) {
        let sockets = &mut self.0;
        if !sockets.iter().any(|socket| Arc::ptr_eq(&socket.exit, &batch.exit)) {
            sockets.push(Socket::new(&batch.exit));
        }
        let Some(socket) = sockets.iter_mut().find(|socket| Arc::ptr_eq(&socket.exit, &batch.exit)) else {
            return;
        };
        let mut begin = 0;
        for packet in batch.packets.drain(..) {
            let content = batch.bytes.get(begin..packet.end).unwrap_or_default();
            begin = packet.end;
            if socket.sender.is_full() {
                socket.flush(&mut batch.failures);
            }
            let (header, inner) = content.split_at_checked(packet.header_bytes).unwrap_or_default();
            let (header, outgoing) = match packet.seal {
                None => (header, socket.pool.copy_of(inner)),
                Some((place, counter)) => {
                    let room = socket.pool.take_of(content.len() + OVERHEAD_BYTES);
                    let sealed = batch.keys.get(place).zip(room).map(|(keys, mut room)| {
                        keys.seal(counter, content, room.buffer_mut());
                        room
                    });
                    (&[][..], sealed)
                }
            };
            match outgoing {
                Some(outgoing) => socket.sender.push(packet.to, packet.traffic_class, header, outgoing),
                None => batch.failures.push(Failure {
                    error: std::io::ErrorKind::InvalidInput.into(),
                    to: packet.to,
                    packet: Vec::new(),
                }),
            }
        }
        socket.flush(&mut batch.failures);
        batch.clear();
    }
}

impl Socket {
    fn new(exit: &Arc<Exit>) -> Self {
        let sender = match exit.is_udp {
            true => BatchSender::joining(&exit.socket, BATCH_PACKETS),
            false => BatchSender::new(BATCH_PACKETS),
        };
        Self { exit: Arc::clone(exit), pool: PacketPool::new(exit.datagram_bytes), sender }
    }

    fn flush(&mut self, failures: &mut Vec<Failure>) {
        self.sender.flush(&self.exit.socket, |error, to, packet| {
            failures.push(Failure { error, to, packet: packet.to_vec() });
        });
    }
}
