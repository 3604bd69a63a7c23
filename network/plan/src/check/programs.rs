//! Programs: something to run, within the run.
use super::Findings;
use crate::{Part, Plan, Problem};

impl Plan {
    pub(super) fn check_programs(&self, found: &mut Findings) {
        for program in &self.programs {
            let mut add = |key, problem| found.add(Part::Program(program.name.clone()), Some(key), problem);
            if program.command.first().is_none_or(|word| word.is_empty()) {
                add("exec", Problem::NothingToRun);
            }
            let start = program.start;
            if start >= self.duration {
                add("start", Problem::StartsAfterRun { start, end: self.duration });
            }
            if let Some(stop) = program.stop.filter(|stop| *stop <= start) {
                add("stop", Problem::StopsBeforeStart { start, stop });
            }
        }
    }
}
