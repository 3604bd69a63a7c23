use super::*;

fn stamp(inode: u64, size: u64) -> Stamp {
    Stamp { device: 1, inode, size, changed_s: 0, changed_ns: 0 }
}

#[test]
fn the_shortest_rest_comes_first_and_a_large_file_goes_on_where_it_was() {
    let mut memory = Memory::default();
    for (inode, size) in [(1, 1000), (2, 10), (3, 500)] {
        assert!(memory.order("name", stamp(inode, size), Wanted::Digest).is_ok());
    }
    let mut order = Vec::new();
    while let Some((_, mut job)) = memory.jobs.pop_first() {
        order.push((job.stamp.inode, job.hashed_bytes));
        job.hashed_bytes += 400;
        if job.hashed_bytes < job.stamp.size {
            memory.add(job);
        }
    }
    assert_eq!(order, [(2, 0), (3, 0), (3, 400), (1, 0), (1, 400), (1, 800)]);
}

#[test]
fn orders_are_bounded() {
    let mut memory = Memory::default();
    let mut order = |inode| memory.order("name", stamp(inode, 1), Wanted::Digest).is_ok();
    let taken = (0..2000).filter(|&inode| order(inode)).count();
    assert_eq!((taken, memory.known.len()), (MAX_JOBS, MAX_JOBS));
}

#[test]
fn lists_that_have_been_made_make_room_for_others() {
    let mut memory = Memory::default();
    for inode in 0..MAX_LISTS as u64 {
        let list = Known::Pieces(Arc::new(ListObject::new(Vec::new())));
        memory.known.insert((stamp(inode, 1), Wanted::Pieces), list);
    }
    memory.order("name", stamp(1000, 1), Wanted::Digest).unwrap();
    assert_eq!(memory.known.len(), 1, "the next one");
    assert_eq!(memory.order("name", stamp(1001, u64::MAX), Wanted::Pieces), Err(Refusal::NotFound));
}
