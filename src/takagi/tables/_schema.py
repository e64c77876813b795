"""Columns of the files of a dataset: they must have the same names and kinds everywhere."""

from dataclasses import dataclass
from typing import Any

from takagi._kinds import find_type
from takagi._messages import need_extra
from takagi.tables._errors import DatasetError
from takagi.tables._text import TextTable


@dataclass(frozen=True)
class TextParts:
    """Text files that are parts of one table, with the interface of a pyarrow dataset."""

    files: list[TextTable]

    @property
    def schema(self) -> Any:
        """The columns of the first file, and those from the names of its folders."""
        arrow, first = need_extra("pyarrow", "parquet"), self.files[0]
        fields = [arrow.field(name, arrow.string()) for name in first.constants]
        return arrow.schema([*first.physical_schema, *fields])

    def get_fragments(self) -> list[TextTable]:
        """Return the files."""
        return self.files


_NUMBERS, _TRUTH, _NOTHING = "numbers", "true and false", "nothing"
_WORDS = {"number": _NUMBERS, "text": "text", "boolean": _TRUTH, "date": "dates or times", "nothing": _NOTHING}


def check_files(dataset: Any, columns: list[str], reads_all: bool) -> Any:
    """Return the schema of a dataset if every file has all or some of its columns, with the same kinds."""
    arrow = need_extra("pyarrow", "parquet")
    first, schemas, known = "", [], {field.name: name_type(field.type) for field in dataset.schema}
    for fragment in list_fragments(dataset):
        path = getattr(fragment, "path", "the dataset")
        try:
            schema = fragment.physical_schema
        except (OSError, arrow.ArrowException) as error:
            raise DatasetError(f"{path} is damaged or empty: {str(error).splitlines()[0]}") from error
        first, constants = first or path, find_constants(fragment)
        _compare(
            {f.name: name_type(f.type) for f in schema}, known, [c for c in columns if c not in constants], path, first
        )
        further = [name for name in schema.names if name not in known]
        if further and reads_all:
            raise DatasetError(
                f"{path} has a column {further[0]!r}, which {first} has not. Name the columns in features."
            )
        schemas.append(schema)
    if not schemas:
        raise DatasetError("The dataset has no files.")
    return _unify(arrow, [dataset.schema, *schemas])


def _unify(arrow: Any, schemas: list[Any]) -> Any:
    """Return the schema of all files; a column that is a category in only some of them is text."""
    for candidates in (schemas, [_spell_out(schema) for schema in schemas]):
        try:
            return arrow.unify_schemas(candidates, promote_options="permissive")
        except (TypeError, ValueError) as error:  # pyarrow raises either
            reason = str(error).splitlines()[0]
    raise DatasetError(f"The files do not go together: {reason}")


def _spell_out(schema: Any) -> Any:
    for place, field in enumerate(schema):
        if hasattr(field.type, "index_type"):  # a dictionary
            schema = schema.set(place, field.with_type(field.type.value_type))
    return schema


def list_fragments(dataset: Any) -> list[Any]:
    """Return the files of a dataset."""
    try:
        return list(dataset.get_fragments())
    except ValueError as error:  # a filter, or a choice of columns
        raise DatasetError(
            "The dataset has a filter, and its parts cannot be read one by one. Write the rows to files first, for "
            "example with pyarrow.dataset.write_dataset."
        ) from error


def _compare(here: dict[str, str], known: dict[str, str], columns: list[str], path: str, first: str) -> None:
    for name in columns:
        if name not in here:
            raise DatasetError(f"{path} has no column {name!r}, which {first} has.")
        if known[name] == _NOTHING:
            known[name] = here[name]
        if here[name] not in (known[name], _NOTHING):
            raise DatasetError(
                f"Column {name!r} holds {here[name]} in {path}, but {known[name]} in other files. Correct it, or leave "
                "the column out."
            )


def find_constants(fragment: Any) -> dict[str, Any]:
    """Return the columns that come from the folders' names."""
    if isinstance(fragment, TextTable):
        return fragment.constants
    return need_extra("pyarrow.dataset", "parquet").get_partition_keys(fragment.partition_expression)


def name_type(kind: Any) -> str:
    """Return the content of a column of a type as text."""
    kind = getattr(kind, "value_type", kind) if find_type(kind) == "category" else kind
    return _WORDS.get(find_type(kind), str(kind))


def check_target(kind: Any, name: str) -> None:
    """Raise an error unless a target's type is numeric."""
    found = name_type(kind)
    if found == _NOTHING:
        raise DatasetError(f"The target {name!r} has no value in any row.")
    if found != _NUMBERS:
        hint = "Write 1 and 0" if found == _TRUTH else "Choose another column, turn it into numbers"
        raise DatasetError(
            f"The target {name!r} must be numbers, but holds {found}. {hint}, or give a TSKClassifier, which learns "
            "classes.",
            about="task",
        )


def check_classes(kind: Any, name: str) -> None:
    """Raise an error unless values of a target's type can be labels of classes."""
    found = name_type(kind)
    if found == _NOTHING:
        raise DatasetError(f"The target {name!r} has no value in any row.")
    if found not in (_NUMBERS, _TRUTH, _WORDS["text"]):
        raise DatasetError(f"The target {name!r} must be labels of classes, but holds {found}; write them as text.")


def check_weight(kind: Any, name: str) -> None:
    """Raise an error unless the type of a column of weights is numeric."""
    found = name_type(kind)
    if found != _NUMBERS:
        raise DatasetError(f"sample_weight {name!r} must be numbers, but holds {found}. Choose another column.")


def widen_text(dataset: Any, schema: Any) -> Any:
    """Return the schema for text files: integers may become fractions further down, and empty columns text."""
    arrow, types = need_extra("pyarrow", "parquet"), need_extra("pyarrow.types", "parquet")
    if not isinstance(dataset, TextParts) and type(getattr(dataset, "format", None)).__name__ != "CsvFileFormat":
        return schema
    for k, field in enumerate(schema):
        if types.is_integer(field.type):
            schema = schema.set(k, field.with_type(arrow.float64()))
        elif types.is_null(field.type):
            schema = schema.set(k, field.with_type(arrow.string()))
    return schema
