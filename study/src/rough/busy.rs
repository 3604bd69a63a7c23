//! Processors that others use while a cell runs.
use crate::jobs::processors;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Threads that want a processor all the time; they end with this value, and with the program in any case.
#[derive(Debug)]
pub struct Spinning {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Spinning {
    /// Starts `per_processor` threads for each processor.
    pub fn start(per_processor: usize) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let spin = |_| {
            let over = Arc::clone(&over);
            thread::spawn(move || {
                let mut turns = 0_u64;
                while !over.load(Ordering::Relaxed) {
                    turns = black_box(turns.wrapping_add(1));
                }
            })
        };
        let threads = (0..per_processor * processors()).map(spin).collect();
        Self { over, threads }
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that only counts cannot have failed.
            let _ = thread.join();
        }
    }
}
