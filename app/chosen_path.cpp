#include "app/chosen_path.h"

QString chosenPath(const QUrl& file)
{
    return file.scheme().isEmpty() ? QUrl::fromPercentEncoding(file.toEncoded()) : file.toLocalFile();
}
