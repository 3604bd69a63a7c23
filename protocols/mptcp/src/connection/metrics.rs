//! Counters, measures and invariants.
use super::Connection;
use crate::config::MptcpConfig;
use crate::segment::Path;
use alloc::format;
use alloc::string::String;
use prismux_tcp::{ConnectionMetrics, State};

/// Segments that were not processed, and bytes not needed, by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drops {
    /// Segments for a subflow that does not exist.
    pub unknown_subflow: u64,
    /// SYNs that wanted to join another connection.
    pub bad_token: u64,
    /// Proofs in MP_JOIN or ADD_ADDR that are wrong or missing.
    pub bad_proof: u64,
    /// Segments with mappings that came before the peer's key.
    pub early: u64,
    /// DATA_ACKs of bytes that were never sent.
    pub bad_ack: u64,
    /// Segments whose payload lies outside the receive buffer.
    pub out_of_buffer: u64,
    /// Times that payload without a mapping ended a subflow.
    pub unmapped: u64,
    /// Payload bytes that other subflows had delivered before.
    pub duplicate_bytes: u64,
}

/// Measures of one subflow.
#[derive(Debug, Clone, PartialEq)]
pub struct SubflowMetrics {
    /// The addresses that it joins.
    pub path: Path,
    /// State of its TCP.
    pub state: State,
    /// One side wants it used only when no other works.
    pub is_backup: bool,
    /// Payload bytes sent over it, repetitions included.
    pub sent_bytes: u64,
    /// Payload bytes that came over it, repetitions included.
    pub received_bytes: u64,
    /// Measures of its TCP.
    pub tcp: ConnectionMetrics,
}

impl Connection {
    /// Segments that were not processed, by cause.
    pub const fn drops(&self) -> &Drops {
        &self.drops
    }

    /// Switches this connection was made with.
    pub const fn config(&self) -> &MptcpConfig {
        &self.config
    }

    /// Bytes of our stream that were given to a second subflow.
    pub const fn reinjected_bytes(&self) -> u64 {
        self.send_buffer.reinjected_bytes
    }

    /// Largest number of bytes that the receive buffer held at once, those beyond holes included.
    pub fn receive_buffer_high_water(&self) -> u64 {
        self.receive_buffer.high_water()
    }

    /// Measures of every subflow, ended ones included, in order of making.
    pub fn subflows(&self) -> impl Iterator<Item = SubflowMetrics> + '_ {
        self.subflows.iter().map(|subflow| SubflowMetrics {
            path: subflow.path,
            state: subflow.tcp().state(),
            is_backup: subflow.is_backup(),
            sent_bytes: subflow.sent_bytes,
            received_bytes: subflow.received_bytes,
            tcp: subflow.tcp().metrics(),
        })
    }

    /// Checks what must always hold: subflows' books in order, and of our stream no more acknowledged than given away,
    /// nor given away than written.
    ///
    /// # Errors
    /// The first thing found wrong, in words.
    pub fn audit(&self) -> Result<(), String> {
        for subflow in &self.subflows {
            subflow.engine().audit()?;
        }
        let buffer = &self.send_buffer;
        if buffer.acked > buffer.frontier || buffer.frontier > buffer.written {
            return Err(format!(
                "acknowledged {}, given away {}, written {}",
                buffer.acked, buffer.frontier, buffer.written
            ));
        }
        Ok(())
    }
}
