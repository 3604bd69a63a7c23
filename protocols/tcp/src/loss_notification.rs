//! Explicit loss notification (ELN) for TCP: a receiver that learns from its link layer which segments arrived damaged
//! marks the acknowledgements that wait for one of them, and the sender resends it without reducing its window.
//!
//! As `tcp_eln` of ns-2: the first marked duplicate has the segment behind its number sent anew, once; no marked
//! duplicate counts towards a fast retransmit. One acknowledgement number can tell of one loss, so a sender repairs
//! at most one in each round trip; every other hole follows the ordinary rules. (H. Balakrishnan, R. Katz, "Explicit
//! loss notification and wireless web performance", Globecom Internet Mini-Conference 1998.)
use crate::engine::LossNotice;
use crate::extension::{SenderExtension, SenderView};
use alloc::vec::Vec;
use prismux_wire::{SeqNumber, TcpHeader};

/// The most damaged segments remembered; more than a window of losses tells nothing new.
const MAX_DAMAGED: usize = 256;

/// The receiver's side: what its link layer has seen arrive damaged.
#[derive(Debug, Clone, Default)]
pub struct LossMarker {
    damaged: Vec<(SeqNumber, SeqNumber)>,
}

impl LossMarker {
    /// A segment arrived damaged, its header readable.
    pub fn damaged(&mut self, header: &TcpHeader, payload_bytes: u32) {
        if payload_bytes == 0 || self.damaged.len() == MAX_DAMAGED {
            return;
        }
        self.damaged.push((header.seq, header.seq + payload_bytes));
    }

    /// Marks an acknowledgement about to leave if it waits for a damaged segment.
    pub fn mark(&mut self, header: &mut TcpHeader) {
        let ack = header.ack;
        self.damaged.retain(|(_, end)| end.after(ack));
        if self.damaged.iter().any(|(start, _)| !start.after(ack)) {
            // Without room among the options the loss is treated as any other.
            header.options.insert_loss_notification();
        }
    }
}

/// The sender's side.
#[derive(Debug, Clone, Copy, Default)]
pub struct LossListener;

impl SenderExtension for LossListener {
    fn on_ack(&mut self, header: &TcpHeader, view: &SenderView<'_>) -> Option<LossNotice> {
        if !header.options.lost_by_link {
            return None;
        }
        // One that acknowledges something is no duplicate; the duplicates that follow it say the same.
        let position =
            view.outstanding_position(header.ack).filter(|&position| position == view.acknowledged)?;
        Some(LossNotice { position, path: 0, keep: None })
    }
}
