"""Opening a submission: every honest shape is taken, and nothing in it can reach further than its own copy."""

from __future__ import annotations

import os
import random
import stat
import zipfile
from pathlib import Path

import pytest

from autograder.grading.submission import Caps, SubmissionError, open_submission

MODULES = ("collectives", "bandwidth")
CODE = "def broadcast(): ...\n"


@pytest.fixture
def scratch(tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def write(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(CODE)
    return root


def make_zip(path: Path, *entries, method: int = zipfile.ZIP_DEFLATED) -> Path:
    """A zip of these entries: names, or (name or ZipInfo, content)."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for entry in entries:
            name, content = entry if isinstance(entry, tuple) else (entry, CODE.encode())
            if isinstance(name, zipfile.ZipInfo):
                archive.writestr(name, content)
            else:
                # Names that an honest writer would mend have to be set from behind.
                info = zipfile.ZipInfo("x")
                info.filename, info.compress_type = name, method
                archive.writestr(info, content)
    return path


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


SHAPES = [
    ["collectives.py"],
    ["handout/collectives.py"],
    ["ada/handout/collectives.py"],
    ["ada/collectives.py"],
    ["handout/collectives.py", "solutions/collectives.py", "README.md"],
    ["handout/collectives.py", "collectives.py"],
    ["handout/collectives.py", "__MACOSX/handout/._collectives.py", ".git/config", "handout/__pycache__/a.pyc"],
]


@pytest.mark.parametrize("names", SHAPES)
@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_every_honest_shape_is_taken(tmp_path, scratch, names, kind):
    path = write(tmp_path / "ada", *names) if kind == "folder" else make_zip(tmp_path / "ada.zip", *names)
    submission = open_submission(path, scratch, MODULES)
    assert submission.name == "ada" and submission.notes == ()
    assert submission.folder.is_relative_to(scratch)
    assert files(submission.folder) == ["collectives.py"]
    assert (submission.folder / "collectives.py").read_text() == CODE


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_own_modules_and_data_come_along(tmp_path, scratch, kind):
    names = ["handout/bandwidth.py", "handout/tools/rings.py", "handout/data/a b.txt", "other/notes.txt"]
    path = write(tmp_path / "ada", *names) if kind == "folder" else make_zip(tmp_path / "ada.zip", *names)
    submission = open_submission(path, scratch, MODULES)
    assert files(submission.folder) == ["bandwidth.py", "data/a b.txt", "tools/rings.py"]


def test_names_from_windows_are_taken(tmp_path, scratch):
    path = make_zip(tmp_path / "ada.zip", ("handout\\", b""), "handout\\collectives.py", "handout\\own\\rings.py")
    assert files(open_submission(path, scratch, MODULES).folder) == ["collectives.py", "own/rings.py"]


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_without_any_module_it_says_what_was_looked_for_and_found(tmp_path, scratch, kind):
    names = ["homework.py", "src/deep/handout/collectives.py"]
    path = write(tmp_path / "ada", *names) if kind == "folder" else make_zip(tmp_path / "ada.zip", *names)
    with pytest.raises(SubmissionError, match=r"bandwidth.py, collectives.py.*What is there: homework.py, src"):
        open_submission(path, scratch, MODULES)


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_nothing_at_all(tmp_path, scratch, kind):
    (tmp_path / "ada").mkdir()
    path = tmp_path / "ada" if kind == "folder" else make_zip(tmp_path / "ada.zip")
    with pytest.raises(SubmissionError, match="What is there: nothing"):
        open_submission(path, scratch, MODULES)


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_two_places_are_not_chosen_between(tmp_path, scratch, kind):
    names = ["a/handout/collectives.py", "b/handout/collectives.py"]
    path = write(tmp_path / "ada", *names) if kind == "folder" else make_zip(tmp_path / "ada.zip", *names)
    with pytest.raises(SubmissionError, match="a/handout and b/handout"):
        open_submission(path, scratch, MODULES)


def test_nothing_there(tmp_path, scratch):
    with pytest.raises(SubmissionError, match="neither a folder nor a zip"):
        open_submission(tmp_path / "no.zip", scratch, MODULES)


# Zips that are not what they should be


@pytest.mark.parametrize("name", ["/etc/cron.d/x", "../x.py", "a/../../x.py", "C:\\x.py", "..\\x.py", "\\x.py"])
def test_names_that_lead_out_are_refused(tmp_path, scratch, name):
    path = make_zip(tmp_path / "ada.zip", "collectives.py", name)
    with pytest.raises(SubmissionError, match="name that leads out"):
        open_submission(path, scratch, MODULES)
    assert not files(tmp_path / "scratch") and not (tmp_path / "x.py").exists()


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK])
def test_links_and_devices_are_left_out(tmp_path, scratch, mode):
    info = zipfile.ZipInfo("bandwidth.py")
    info.external_attr = (mode | 0o777) << 16
    path = make_zip(tmp_path / "ada.zip", "collectives.py", (info, b"/etc/passwd"))
    submission = open_submission(path, scratch, MODULES)
    assert files(submission.folder) == ["collectives.py"]
    assert submission.notes == ("bandwidth.py was left out: it is not an ordinary file.",)


@pytest.mark.parametrize(
    "names",
    [
        ("collectives.py", "collectives.py"),
        ("collectives.py", "./collectives.py"),
        ("collectives.py", "Collectives.py"),
        ("collectives.py", "cafe\u0301.py", "caf\u00e9.py"),
        ("collectives.py", "collectives.py/x.py"),
        ("collectives.py", "own/x.py", "own"),
        ("collectives.py", "Own/x.py", "own/y.py"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_collide_are_refused(tmp_path, scratch, names):
    with pytest.raises(SubmissionError, match="twice"):
        open_submission(make_zip(tmp_path / "ada.zip", *names), scratch, MODULES)


def test_names_with_control_characters_are_left_out_and_shown_harmless(tmp_path, scratch):
    path = make_zip(tmp_path / "ada.zip", "collectives.py", "Icon\r", "\x1b[2Jx.py", "y\u202e.py")
    submission = open_submission(path, scratch, MODULES)
    assert files(submission.folder) == ["collectives.py"]
    assert len(submission.notes) == 3 and "Icon\\r was left out" in "".join(submission.notes)
    assert all(note.isprintable() for note in submission.notes)


def test_a_password_is_told(tmp_path, scratch):
    path = make_zip(tmp_path / "ada.zip", "collectives.py")
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(SubmissionError, match="password"):
        open_submission(path, scratch, MODULES)


def test_an_unusual_compression_is_told(tmp_path, scratch):
    path = make_zip(tmp_path / "ada.zip", "collectives.py", method=zipfile.ZIP_LZMA)
    with pytest.raises(SubmissionError, match="unusual compression"):
        open_submission(path, scratch, MODULES)


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\3\4", b"PK\5\6" + b"\xff" * 18])
def test_no_zip(tmp_path, scratch, content):
    path = tmp_path / "ada.zip"
    path.write_bytes(content)
    with pytest.raises(SubmissionError, match="no zip file"):
        open_submission(path, scratch, MODULES)


def test_a_damaged_zip_is_a_submission_error_wherever_the_damage_is(tmp_path, scratch):
    whole = make_zip(tmp_path / "ada.zip", "handout/collectives.py", ("handout/x.txt", os.urandom(300))).read_bytes()
    random.seed(0)
    damaged = [whole[:end] for end in range(0, len(whole), 7)]
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(random.randint(1, 4)):
            data[random.randrange(len(data))] = random.randrange(256)
        damaged.append(bytes(data))
    path = tmp_path / "damaged.zip"
    refused = 0
    for i, data in enumerate(damaged):
        path.write_bytes(data)
        place = scratch / str(i)
        place.mkdir()
        try:
            open_submission(path, place, MODULES)
        except SubmissionError as error:
            refused += 1
            assert str(error).isprintable()
    assert refused > len(damaged) // 2
    assert {entry.name for entry in tmp_path.iterdir()} == {"ada.zip", "damaged.zip", "scratch"}


def bomb(path: Path, **changes: int) -> Path:
    """A zip whose one file unpacks to 8 MB of zeros, some fields of its directory entry changed."""
    make_zip(path, "collectives.py", ("zeros.bin", bytes(8 << 20)))
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"PK\1\2")
    for field, value in changes.items():
        offset = {"compressed": 20, "size": 24}[field]
        data[entry + offset : entry + offset + 4] = value.to_bytes(4, "little")
    path.write_bytes(data)
    return path


def test_a_bomb_is_refused_by_its_ratio(tmp_path, scratch):
    with pytest.raises(SubmissionError, match="zeros.bin is compressed beyond belief"):
        open_submission(bomb(tmp_path / "ada.zip"), scratch, MODULES)


def test_a_bomb_that_lies_about_its_size_writes_no_more_than_it_said(tmp_path, scratch):
    with pytest.raises(SubmissionError, match="damaged"):
        open_submission(bomb(tmp_path / "ada.zip", size=1000), scratch, MODULES)
    assert sum(path.stat().st_size for path in scratch.rglob("*") if path.is_file()) <= 1000 + len(CODE)


def test_too_many_names_are_refused_before_they_are_kept(tmp_path, scratch):
    path = make_zip(tmp_path / "ada.zip", "collectives.py", *(("n" * 200 + str(i), b"") for i in range(10_000)))
    with pytest.raises(SubmissionError, match="too many names"):
        open_submission(path, scratch, MODULES)


# Both


@pytest.mark.parametrize("kind", ["folder", "zip"])
@pytest.mark.parametrize(
    ("caps", "message"),
    [
        (Caps(files=2), "more than 2 files"),
        (Caps(total_bytes=400), "too large|larger than"),
        (Caps(depth=2), "nested more than 2 deep"),
    ],
)
def test_caps_are_told(tmp_path, scratch, kind, caps, message):
    entries = [("collectives.py", b"x" * 190), ("a/b/c/x.txt", os.urandom(190)), ("y.txt", os.urandom(190))]
    path = make_zip(tmp_path / "ada.zip", *entries)
    if kind == "folder":
        path = tmp_path / "ada"
        for name, content in entries:
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content)
    with pytest.raises(SubmissionError, match=message):
        open_submission(path, scratch, MODULES, caps)


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_a_large_file_is_left_out_alone(tmp_path, scratch, kind):
    path = write(tmp_path / "ada", "collectives.py")
    (path / "weights.bin").write_bytes(os.urandom(2000))
    if kind == "zip":
        path = make_zip(tmp_path / "ada.zip", "collectives.py", ("weights.bin", os.urandom(2000)))
    submission = open_submission(path, scratch, MODULES, Caps(file_bytes=1024))
    assert files(submission.folder) == ["collectives.py"]
    assert len(submission.notes) == 1 and submission.notes[0].startswith("weights.bin was left out: it is larger")


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_a_name_that_is_too_long_is_told(tmp_path, scratch, kind):
    names = ["collectives.py", f"{'n' * 150}/{'m' * 150}.py"]
    path = write(tmp_path / "ada", *names) if kind == "folder" else make_zip(tmp_path / "ada.zip", *names)
    with pytest.raises(SubmissionError, match="too long"):
        open_submission(path, scratch, MODULES)


# Folders


def test_links_out_of_the_folder_are_not_followed(tmp_path, scratch):
    secret = write(tmp_path / "secret", "solution.py")
    path = write(tmp_path / "ada", "collectives.py", "v2/bandwidth.py")
    (path / "stolen.py").symlink_to(secret / "solution.py")
    (path / "stolen").symlink_to(secret)
    (path / "gone.py").symlink_to("nowhere")
    (path / "round").symlink_to(".")
    (path / "loop").symlink_to("loop")
    (path / "bandwidth.py").symlink_to("v2/bandwidth.py")
    submission = open_submission(path, scratch, MODULES)
    assert files(submission.folder) == ["bandwidth.py", "collectives.py", "v2/bandwidth.py"]
    assert not any(copied.is_symlink() for copied in submission.folder.rglob("*"))
    assert sorted(note.split()[0] for note in submission.notes) == ["gone.py", "loop", "round", "stolen", "stolen.py"]


def test_a_handout_that_is_a_link_is_not_followed(tmp_path, scratch):
    other = write(tmp_path / "other", "collectives.py")
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "handout").symlink_to(other)
    with pytest.raises(SubmissionError, match="None of"):
        open_submission(tmp_path / "ada", scratch, MODULES)


def test_special_files_are_left_out(tmp_path, scratch):
    path = write(tmp_path / "ada", "collectives.py")
    os.mkfifo(path / "bandwidth.py")
    submission = open_submission(path, scratch, MODULES)
    assert files(submission.folder) == ["collectives.py"]
    assert submission.notes == ("bandwidth.py was left out: it is not an ordinary file.",)


@pytest.fixture
def forbidden(monkeypatch):
    """Makes files of this name unreadable, for root too."""
    names: set[str] = set()
    real = os.open

    def refuse(path, *rest, **more):
        if os.path.basename(os.fspath(path)) in names:
            raise PermissionError(13, "Permission denied", path)
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    return names


def test_an_unreadable_file_is_left_out_and_an_unreadable_module_told(tmp_path, scratch, forbidden):
    path = write(tmp_path / "ada", "collectives.py", "notes.txt")
    forbidden.add("notes.txt")
    assert open_submission(path, scratch, MODULES).notes == ("notes.txt was left out: it may not be read.",)
    forbidden.add("collectives.py")
    (scratch / "2").mkdir()
    with pytest.raises(SubmissionError, match="collectives.py may not be read. Change its permissions."):
        open_submission(path, scratch / "2", MODULES)


def test_an_unreadable_folder_is_told(tmp_path, scratch, monkeypatch):
    path = write(tmp_path / "ada", "collectives.py")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(SubmissionError, match="ada may not be read"):
        open_submission(path, scratch, MODULES)


def test_a_full_disk_is_not_the_submissions_fault(tmp_path, scratch, monkeypatch):
    path = make_zip(tmp_path / "ada.zip", "collectives.py")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(OSError, match="No space left"):
        open_submission(path, scratch, MODULES)


def test_nothing_is_run(tmp_path, scratch):
    path = write(tmp_path / "ada", "collectives.py")
    (path / "collectives.py").write_text('raise SystemExit(f\'run: {open("ran", "w")}\')')
    (path / "sitecustomize.py").write_text("raise SystemExit")
    (path / "bandwidth.py").write_text("syntax error here")
    submission = open_submission(path, scratch, MODULES)
    assert files(submission.folder) == ["bandwidth.py", "collectives.py", "sitecustomize.py"]
    assert not os.access(submission.folder / "collectives.py", os.X_OK)
